#include "app/sanitize_once.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "app/task_bench.h"
#include "base/log.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/json_dump.h"
#include "store/store.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

// The version in the key is raised whenever sanitizers or their flags change.
std::string KeyOf(const TaskBench& task, const Evaluation& evaluation) {
  return "sanitized/1/" + task.task().sha256 + "/" + evaluation.object_sha256;
}

std::string NamesOf(std::span<const Check> checks) {
  auto names = nlohmann::json::array();
  for (const Check& check : checks) names.push_back(check.name);
  return Dump(names);
}

// Adds the checks that the store remembers. Returns false if `names` holds none.
bool AddKnown(const std::string& names, Evaluation& evaluation) {
  const auto value = nlohmann::json::parse(names, nullptr, /*allow_exceptions=*/false);
  if (!value.is_array() || value.empty()) return false;
  for (const nlohmann::json& name : value) {
    if (!name.is_string()) return false;
    evaluation.checks.push_back(
        {name, CheckVerdict::kPass, "no report on one input set, in an earlier run"});
  }
  return true;
}

bool AllPassed(const Evaluation& evaluation, std::span<const Check> checks) {
  return evaluation.passed() && !checks.empty() &&
         std::ranges::all_of(
             checks, [](const Check& check) { return check.verdict == CheckVerdict::kPass; });
}

}  // namespace

Result<void> SanitizeAnew(Store& store, TaskBench& task, const Candidate& candidate,
                          Evaluation& evaluation, const Verifier::Progress& progress) {
  const std::size_t before = evaluation.checks.size();
  TRY(task.Sanitize(candidate, evaluation, progress));
  const auto added = std::span(evaluation.checks).subspan(before);
  if (evaluation.object_sha256.empty() || !AllPassed(evaluation, added)) return {};
  const Result<void> kept = store.PutFigure(KeyOf(task, evaluation), NamesOf(added));
  if (!kept) Log(LogLevel::kWarning, "that sanitizers passed is not kept: " + kept.error().message);
  return {};
}

Result<void> SanitizeOnce(Store& store, TaskBench& task, const Candidate& candidate,
                          Evaluation& evaluation) {
  const std::optional<std::string> known = TRY(store.GetFigure(KeyOf(task, evaluation)));
  if (known && AddKnown(*known, evaluation)) return {};
  return SanitizeAnew(store, task, candidate, evaluation, {});
}

}  // namespace pragma
