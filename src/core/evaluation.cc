#include "core/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {
namespace {

constexpr std::array<std::string_view, 14> kStatusNames{
    "passed",           "rejected_source", "compile_error",     "load_error",  "crashed",
    "timeout",          "out_of_memory",   "sandbox_violation", "wrong_shape", "wrong_values",
    "nondeterministic", "implausible",     "unsupported",       "task_error"};

bool IsSanitizer(const Check& check) { return check.name.ends_with("_sanitizer"); }

}  // namespace

std::optional<Interval> MeanOverShapes(const std::vector<ShapeResult>& shapes,
                                       std::optional<Interval> ShapeResult::* ratio) {
  Interval logs;
  for (const ShapeResult& shape : shapes) {
    const std::optional<Interval>& one = shape.*ratio;
    if (!one) return std::nullopt;
    logs.median += std::log(one->median);
    logs.low += std::log(one->low);
    logs.high += std::log(one->high);
  }
  const auto n = static_cast<double>(shapes.size());
  return Interval{std::exp(logs.median / n), std::exp(logs.low / n), std::exp(logs.high / n)};
}

std::string SessionOf(const std::string& session, const std::string& shape) {
  return session + " with " + shape;
}

bool RejectedBySanitizer(const Evaluation& evaluation) {
  return std::ranges::any_of(evaluation.checks, [](const Check& check) {
    return IsSanitizer(check) && check.verdict == CheckVerdict::kFail;
  });
}

Evaluation BeforeSanitizers(Evaluation evaluation) {
  if (RejectedBySanitizer(evaluation)) {
    evaluation.status = Status::kPassed;
    evaluation.reason.clear();
    evaluation.log.clear();
  }
  std::erase_if(evaluation.checks, IsSanitizer);
  return evaluation;
}

std::string_view StatusName(Status status) {
  return kStatusNames.at(static_cast<std::size_t>(status));
}

std::optional<Status> StatusFromName(std::string_view name) {
  const auto* found = std::ranges::find(kStatusNames, name);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<Status>(found - kStatusNames.begin());
}

}  // namespace pragma
