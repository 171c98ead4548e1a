#include "bench/extras.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/exporting.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "bench/options.h"
#include "bench/row.h"
#include "core/candidate.h"
#include "core/json_dump.h"
#include "machine/machine.h"
#include "verify/paper_timing.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

Json KeptTimes(const std::optional<CallTimes>& times) {
  if (!times) return nullptr;
  return {{"mean", times->mean},
          {"std", times->std},
          {"min", times->min},
          {"max", times->max},
          {"num_trials", times->trials}};
}

std::optional<CallTimes> ReadTimes(const Json& timing, const char* name) {
  const auto value = timing.find(name);
  if (value == timing.end() || !value->is_object()) return std::nullopt;
  const auto number = [&](const char* member) {
    const auto found = value->find(member);
    return found != value->end() && found->is_number() ? found->get<double>() : 0.0;
  };
  return CallTimes{.mean = number("mean"),
                   .std = number("std"),
                   .min = number("min"),
                   .max = number("max"),
                   .trials = static_cast<int>(number("num_trials"))};
}

// Store key of a figure for one candidate on one task and machine.
std::string KeyOf(const Workbench& bench, const ExtrasSubject& subject, const Candidate* candidate,
                  bool compile) {
  return fmt::format("bench-paper/1/{}/{}/{}/{}/{}", subject.task.sha256,
                     candidate == nullptr ? "-" : candidate->id(), bench.machine().fingerprint,
                     bench.machine().threads, compile ? "compile" : "eager");
}

Result<PaperTiming> TimingOf(Workbench& bench, const ExtrasSubject& subject,
                             const Candidate* candidate, bool compile) {
  const std::string key = KeyOf(bench, subject, candidate, compile);
  if (const auto kept = TRY(bench.store().GetFigure(key))) {
    if (Result<PaperTiming> timing = ReadPaperTiming(*kept)) return timing;
  }
  TaskBench* task = TRY(subject.open());
  PaperTiming timing = TRY(task->TimeByPaper(candidate, compile, {}));
  TRY(bench.store().PutFigure(key, PaperTimingText(timing)));
  return timing;
}

}  // namespace

Result<void> AddExtras(const AppContext& context, Workbench& bench, const BenchOptions& options,
                       const ExtrasSubject& subject, BenchRow& row) {
  const bool files = !options.kernelbench_out.empty();
  Solution solution;
  if (subject.candidate != nullptr && (files || !options.no_call)) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    solution = TRY(SolutionOf(context, bench, subject.task, subject.header, *subject.candidate));
  }
  if (files && solution.candidate) row.solution = solution.candidate->source();
  // Both sides then allocate their outputs, as in the paper. The kernel alone does not allocate
  // any.
  const bool whole = solution.candidate && !options.no_call;
  const Candidate* timed = whole ? &*solution.candidate : subject.candidate;
  if (timed != nullptr)
    row.paper_subject = timed->language == Language::kPython ? "ModelNew" : "kernel";
  row.paper = TRY(TimingOf(bench, subject, timed, !options.no_compile_baseline));
  return {};
}

std::string PaperTimingText(const PaperTiming& timing) {
  const Json value = {{"candidate", KeptTimes(timing.candidate)},
                      {"eager", KeptTimes(timing.eager)},
                      {"compile", KeptTimes(timing.compile)},
                      {"failure", timing.failure}};
  return Dump(value);
}

Result<PaperTiming> ReadPaperTiming(const std::string& text) {
  const Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return Fail("the kept timing is not a JSON object");
  const std::optional<CallTimes> eager = ReadTimes(value, "eager");
  if (!eager) return Fail("the kept timing lacks eager");
  const auto failure = value.find("failure");
  const bool told = failure != value.end() && failure->is_string();
  return PaperTiming{.candidate = ReadTimes(value, "candidate"),
                     .eager = *eager,
                     .compile = ReadTimes(value, "compile"),
                     .failure = told ? failure->get<std::string>() : ""};
}

}  // namespace pragma
