// Evaluation: what happened to a candidate. Anything a kernel does, good or bad, becomes a value of
// this type.
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
  kRejectedSource,  // a flag, file or symbol is not allowed
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

// Diagnostic: a compiler message that a model can act on.
struct Diagnostic {
  std::string severity;  // "error", "warning", "note"
  std::string file;
  int line = 0;  // 1-based; 0: the message names no line
  int column = 0;
  std::string message;
  std::string source_line;  // text of that line, where known
};

struct ErrorFigures {
  double max_abs = 0;
  double max_rel = 0;            // over elements larger than the output's rms / 1000
  double rel_l2 = 0;             // ||y - r|| / ||r||
  double honest_rel_l2 = 0;      // rel_l2 of PyTorch's own fp32 result
  std::vector<std::int64_t> at;  // index of the worst element
  std::string output;            // name of the output that holds that element
};

// Interval: a figure with its interval. The unit is in the name of the field that holds it.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
};

struct Timing {
  Interval ms;              // milliseconds per call, 95 % interval over process medians
  std::size_t samples = 0;  // number of timed calls
  std::size_t processes = 0;
  std::string method;  // how it was measured, as text for people
  int threads = 1;
  double doorbell_us = 0;  // cost of an empty burst, already subtracted
};

// RawSamples: the measurements of one side of a timing session, before any statistics.
struct RawSamples {
  std::string session;     // baseline of the session, "eager" or "compile"; sides of one session
                           // are paired
  std::string side;        // "candidate", "best", "eager (keep)", "compile (default)"
  double doorbell_us = 0;  // cost of an empty burst, already subtracted
  std::vector<std::vector<double>> seconds;  // [process][burst], seconds per call
};

struct Environment {
  std::string cpu;
  std::string compiler;
  std::string torch;
  std::string allocator;  // "default" or "keep": the faster of PyTorch's two, used for the baseline
  std::string cache;      // "warm" or "cold"
  int threads = 1;
  std::vector<std::string> protections;
  // How well the sandbox protects: "isolated", "weaker (python)", "weaker (triton)", "weaker
  // (cuda)", "none (unsafe-no-sandbox)".
  std::string trust;
  std::string device;     // "NVIDIA H100 80GB HBM3, driver 580.159.04"; empty: measured on the CPU
  std::string precision;  // precision of both sides on a device: "fp32" (no TF32); empty: as
                          // written
};

// ShapeResult: the result on one of several shapes that a candidate was judged on (--shapes).
struct ShapeResult {
  std::string label;  // "n=64, batch=8"; "as written" for the task's own sizes
  bool held_out = false;
  Status status = Status::kTaskError;
  std::optional<Timing> timing;
  std::optional<Interval> speedup_eager;
  std::optional<Interval> speedup_compile;
  std::optional<Interval> speedup_best;
};

// TunedVariant: one variant of a tuned candidate. It was compared on one secret input set and then
// timed, paired with the default. It has no verdict: the chosen variant is judged like any
// candidate.
struct TunedVariant {
  std::map<std::string, std::int64_t> tunables;
  std::vector<std::string> flags;  // flags added to the candidate's own
  Status status = Status::kPassed;
  std::string reason;             // why it failed, or why it was not timed
  std::optional<Interval> ratio;  // time of the default over the variant's time: > 1 is faster
  std::size_t processes = 0;      // number of process pairs behind the ratio
};

// Tuning: what a tuner did with one candidate (docs/tuning.md).
struct Tuning {
  std::vector<TunedVariant> variants;  // variants that were tried, the default first
  std::size_t chosen = 0;              // index into `variants`
  std::size_t combinations = 0;        // number of combinations that the constraints allow
  double seconds = 0;                  // time spent
  double limit_seconds = 0;
  bool complete = false;  // true: no variant was left out for lack of time
  bool recalled = false;  // true: taken from an earlier tuning on this machine
};

// Returns the name of a timing session on another shape than the first: "eager with n=64".
[[nodiscard]] std::string SessionOf(const std::string& session, const std::string& shape);
// Returns the geometric mean of a ratio over the shapes, or nullopt where any shape has no such
// ratio. The interval is made of the means of the limits, which is wider than an interval of the
// mean itself would be.
[[nodiscard]] std::optional<Interval> MeanOverShapes(const std::vector<ShapeResult>& shapes,
                                                     std::optional<Interval> ShapeResult::* ratio);

struct Evaluation {
  Status status = Status::kTaskError;
  std::string reason;  // one or a few lines that a model can act on
  std::vector<Check> checks;
  std::vector<Diagnostic> diagnostics;   // messages of the build
  std::string log;                       // shortened untrusted text of the compiler and the worker
  std::optional<ErrorFigures> error;     // present once values were compared
  std::optional<bool> official_correct;  // verdict of KernelBench's own rule
  // Batteries that were left out for lack of time. Batteries that the reference cannot judge are
  // not named.
  std::vector<std::string> partly_checked;
  std::vector<std::string> nan;  // what the kernel did with a NaN, by input: "NaN in x: passed on"
  // The fields from here on are filled only when the candidate passed:
  std::optional<Timing> timing;
  std::optional<Timing> eager;
  std::optional<Timing> compile;
  std::optional<Interval> speedup_eager;  // paired ratio, > 1 is faster
  std::optional<Interval> speedup_compile;
  std::optional<Interval> speedup_dropin;
  std::optional<Interval> speedup_best;  // ratio paired against the best version at that time
  std::optional<double> lower_bound_ms;  // hard lower bound on the time
  bool prepacked = false;                // true: the kernel used pragma_prepare; never mixed with
                                         // plain figures
  std::optional<double> prepare_ms;
  // Empty when there is one shape. Otherwise the times and the bound above are those of the first
  // shape, and the speed-ups are geometric means over the shapes.
  std::vector<ShapeResult> shapes;
  std::optional<Tuning> tuning;  // nullopt: the candidate was not tuned
  // Samples of the sessions that the figures above come from. They are not part of the evaluation's
  // JSON. Only evidence bundles keep them.
  std::vector<RawSamples> samples;
  Environment environment;
  std::string object_sha256;                // hash of the shared object; empty: it was not built
  std::string seed;                         // recorded after the evaluation
  std::map<std::string, double> phases_ms;  // milliseconds by phase: build, load, verify, tune,
                                            // time
  [[nodiscard]] bool passed() const { return status == Status::kPassed; }
};

// Sanitizers run last and only on passed candidates. The names of their checks end in "_sanitizer".
// RejectedBySanitizer says whether one of them turned the evaluation into a rejection.
// BeforeSanitizers returns the evaluation as it was before they ran.
[[nodiscard]] bool RejectedBySanitizer(const Evaluation& evaluation);
[[nodiscard]] Evaluation BeforeSanitizers(Evaluation evaluation);

}  // namespace pragma
