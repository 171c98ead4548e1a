// Conversion between the core values and JSON text. The names are the contract of docs/design.md 11
// (the store, --json, recordings and requests all use them). Reading never throws, because
// untrusted text may be anything.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/advice.h"     // IWYU pragma: export
#include "core/candidate.h"  // IWYU pragma: export
#include "core/profile.h"    // IWYU pragma: export
#include "core/task.h"       // IWYU pragma: export
#include "core/tuning.h"

namespace pragma {

struct Evaluation;
struct Trial;

[[nodiscard]] std::string ToJson(const Task& task);
[[nodiscard]] std::string ToJson(const Candidate& candidate);
[[nodiscard]] std::string ToJson(const Evaluation& evaluation);
[[nodiscard]] std::string ToJson(const Tuning& tuning);
[[nodiscard]] std::string ToJson(const Advice& advice);
[[nodiscard]] std::string ToJson(const Profile& profile);
[[nodiscard]] std::string ToJson(const Trial& trial);

[[nodiscard]] Result<Task> TaskFromJson(std::string_view text);
[[nodiscard]] Result<Candidate> CandidateFromJson(std::string_view text);
[[nodiscard]] Result<Evaluation> EvaluationFromJson(std::string_view text);
[[nodiscard]] Result<Tuning> TuningFromJson(std::string_view text);
[[nodiscard]] Result<Advice> AdviceFromJson(std::string_view text);
[[nodiscard]] Result<Profile> ProfileFromJson(std::string_view text);
[[nodiscard]] Result<Trial> TrialFromJson(std::string_view text);

}  // namespace pragma
