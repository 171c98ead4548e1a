// Evaluation: what happened to a candidate. Whatever a kernel does is a value of this type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

enum class Status : std::uint8_t {
  kPassed,
  kRejectedSource,  // flag, file or symbol not allowed
  kCompileError,
  kLoadError,
  kCrashed,
  kTimeout,
  kOutOfMemory,
  kSandboxViolation,
  kWrongShape,
  kWrongValues,
  kNondeterministic,
  kImplausible,  // faster than the machine allows, or a timed output was wrong
  kUnsupported,  // the author gave up on this operator
  kTaskError,    // the reference itself fails
};
[[nodiscard]] std::string_view StatusName(Status status);  // "passed", "rejected_source", ...
[[nodiscard]] std::optional<Status> StatusFromName(std::string_view name);

struct Check {
  std::string name;     // "flags", "build", "values", "guards", "timed_outputs", ...
  std::string verdict;  // "pass", "fail", "skipped", "note"
  std::string detail;
};

// A compiler message a model can act on.
struct Diagnostic {
  std::string severity;  // "error", "warning", "note"
  std::string file;
  int line = 0;  // 1-based; 0: none
  int column = 0;
  std::string message;
  std::string source_line;  // the text of that line, where known
};

struct ErrorFigures {
  double max_abs = 0;
  double max_rel = 0;            // over elements larger than the output's rms / 1000
  double rel_l2 = 0;             // ||y - r|| / ||r||
  double honest_rel_l2 = 0;      // the same of Torch's own fp32 result
  std::vector<std::int64_t> at;  // index of the worst element
  std::string output;            // name of the output it is in
};

// A figure with its interval; the unit is in the field's name.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
};

struct Timing {
  Interval ms;              // of one call, 95 % interval over process medians
  std::size_t samples = 0;  // timed calls
  std::size_t processes = 0;
  std::string method;  // how it was measured, for people
  int threads = 1;
  double doorbell_us = 0;  // subtracted cost of an empty burst
};

// What was measured of one side of a timing session, before any statistics.
struct RawSamples {
  std::string session;     // "eager", "compile": the baseline; sides of one session are paired
  std::string side;        // "candidate", "best", "eager (keep)", "compile (default)"
  double doorbell_us = 0;  // already subtracted
  std::vector<std::vector<double>> seconds;  // [process][burst], of one call
};

struct Environment {
  std::string cpu;
  std::string compiler;
  std::string torch;
  std::string allocator;  // "default" or "keep": the faster of Torch's two, used for the baseline
  std::string cache;      // "warm" or "cold"
  int threads = 1;
  std::vector<std::string> protections;
  // "isolated", "weaker (python)", "weaker (triton)", "weaker (cuda)", "none (unsafe-no-sandbox)"
  std::string trust;
  std::string device;     // "NVIDIA H100 80GB HBM3, driver 580.159.04"; empty: the processors
  std::string precision;  // of both sides on a device: "fp32" (no TF32); empty: as written
};

// One of several shapes that a candidate was judged on (--shapes).
struct ShapeResult {
  std::string label;  // "n=64, batch=8"; "as written": the task's own sizes
  bool held_out = false;
  Status status = Status::kTaskError;
  std::optional<Timing> timing;
  std::optional<Interval> speedup_eager;
  std::optional<Interval> speedup_compile;
  std::optional<Interval> speedup_best;
};

// One variant of a tuned candidate: held against one secret input set, then timed, paired, against
// the default. No verdict: the chosen one is judged like any candidate.
struct TunedVariant {
  std::map<std::string, std::int64_t> tunables;
  std::vector<std::string> flags;  // added to the candidate's own
  Status status = Status::kPassed;
  std::string reason;             // why it failed, or why it was not timed
  std::optional<Interval> ratio;  // time of the default over its own: > 1 is faster
  std::size_t processes = 0;      // pairs behind the ratio
};

// What a tuner did with one candidate (docs/tuning.md).
struct Tuning {
  std::vector<TunedVariant> variants;  // that were tried, the default first
  std::size_t chosen = 0;              // index into them
  std::size_t combinations = 0;        // that the constraints allow
  double seconds = 0;                  // spent
  double limit_seconds = 0;
  bool complete = false;  // nothing was left out for want of time
  bool recalled = false;  // of an earlier tuning on this machine
};

// The name of a timing session on another shape than the first: "eager with n=64".
[[nodiscard]] std::string SessionOf(const std::string& session, const std::string& shape);
// The geometric mean of a ratio over the shapes; none where any shape has none. The limits' means
// are wider than the mean's own interval.
[[nodiscard]] std::optional<Interval> MeanOverShapes(const std::vector<ShapeResult>& shapes,
                                                     std::optional<Interval> ShapeResult::* ratio);

struct Evaluation {
  Status status = Status::kTaskError;
  std::string reason;  // one or a few lines that a model can act on
  std::vector<Check> checks;
  std::vector<Diagnostic> diagnostics;   // of the build
  std::string log;                       // shortened foreign text: compiler, worker
  std::optional<ErrorFigures> error;     // once values were compared
  std::optional<bool> official_correct;  // KernelBench's own rule
  // Batteries that there was no time for; those that the reference cannot judge are not named.
  std::vector<std::string> partly_checked;
  std::vector<std::string> nan;  // "NaN in x: passed on": what became of one in each input
  // Only when passed:
  std::optional<Timing> timing;
  std::optional<Timing> eager;
  std::optional<Timing> compile;
  std::optional<Interval> speedup_eager;  // paired ratio, > 1 is faster
  std::optional<Interval> speedup_compile;
  std::optional<Interval> speedup_dropin;
  std::optional<Interval> speedup_best;  // paired against the best at that time
  std::optional<double> lower_bound_ms;  // hard bound
  bool prepacked = false;                // used pragma_prepare; never mixed with plain figures
  std::optional<double> prepare_ms;
  // Empty: one shape. Else times and bound above are the first's, speed-ups geometric means.
  std::vector<ShapeResult> shapes;
  std::optional<Tuning> tuning;  // none: it was not tuned
  // Of the sessions that the figures above come from. Not part of the evaluation's JSON: only
  // evidence bundles keep it.
  std::vector<RawSamples> samples;
  Environment environment;
  std::string object_sha256;                // of the shared object; empty: it was not built
  std::string seed;                         // after the fact
  std::map<std::string, double> phases_ms;  // build, load, verify, tune, time
  [[nodiscard]] bool passed() const { return status == Status::kPassed; }
};

// Sanitizers are asked last and of passed candidates only; their checks are called
// "..._sanitizer". Whether one of them turned the evaluation into a rejection, and what it was
// before.
[[nodiscard]] bool RejectedBySanitizer(const Evaluation& evaluation);
[[nodiscard]] Evaluation BeforeSanitizers(Evaluation evaluation);

}  // namespace pragma
