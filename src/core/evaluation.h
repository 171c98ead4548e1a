// Evaluation: what happened to a candidate. Anything a kernel does, good or bad, becomes a value of
// this type.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/call_figures.h"
#include "core/check.h"
#include "core/diagnostic.h"
#include "core/environment.h"
#include "core/error_figures.h"
#include "core/status.h"
#include "core/timing.h"
#include "core/tuning.h"

namespace pragma {

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
  std::optional<CallFigures> call;       // ModelNew against the faster of eager and torch.compile
  std::optional<Interval> speedup_best;  // ratio paired against the best version at that time
  std::optional<double> lower_bound_ms;  // hard lower bound on the time: of bytes alone
  std::optional<Roofline> roofline;      // what the task's operations and bytes take at the peaks
  bool prepacked = false;                // true: the kernel used pragma_prepare; never mixed with
                                         // plain figures
  std::optional<double> prepare_ms;
  // Why the figures above are uncertain: other programs used the machine while they were measured.
  // Empty: they are not.
  std::string noisy;
  std::optional<Load> load;  // of the session against eager
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
