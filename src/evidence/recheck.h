// Recheck: compares what a bundle claims with the result of judging its candidate again. This is a
// pure comparison. The caller builds, runs and times the candidate (cli/recheck.cc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "evidence/bundle.h"

namespace pragma {

// The judgement made now on this machine.
struct Rejudged {
  Evaluation same_seed;   // judged with the recorded seed
  Evaluation fresh_seed;  // judged with a seed drawn after the build
  std::string pragma;
  std::string system;
  std::string kernel_header_sha256;
  BundleOptions options;
  bool timed = true;        // false: only checks were requested
  std::string not_against;  // why the run's best was not timed; empty: it was, or there is none
};

enum class Weight : std::uint8_t {
  kNote,          // worth knowing: another machine or compiler, or a figure that changed slightly
  kInconclusive,  // other programs disturbed the measurement, so it says nothing of the claim
  kRefutes,       // a claim of the bundle does not hold here
};
[[nodiscard]] std::string_view WeightName(Weight weight);  // "note", "inconclusive", "refutes"

struct Difference {
  std::string what;  // "status", "object", "error", "speedup.eager", "cpu", ...
  Weight weight = Weight::kNote;
  std::string recorded;  // untrusted text from the bundle
  std::string now;
  std::string detail;
};

// Each outweighs those before it.
enum class RecheckVerdict : std::uint8_t {
  kConfirmed,
  kConfirmedWithNotes,
  kInconclusive,
  kRefuted,
};
[[nodiscard]] std::string_view VerdictName(RecheckVerdict verdict);

struct RecheckReport {
  std::vector<Difference> differences;
  RecheckVerdict verdict = RecheckVerdict::kConfirmed;
};

// The rules are in docs/evidence.md.
[[nodiscard]] RecheckReport CompareWithRecord(const Bundle& recorded, const Rejudged& now);

// A speedup may be below the whole recorded interval by this factor, on the same machine, before it
// counts as refuted. Machines drift by more than the interval of one session.
inline constexpr double kSpeedupSlack = 1.1;
// Relative widths of intervals. A wider one than the first refutes nothing, and a wider one than
// the second confirms nothing.
inline constexpr double kWidestThatRefutes = 0.25;
inline constexpr double kWidestThatConfirms = 1;

}  // namespace pragma
