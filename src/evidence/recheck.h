// Recheck: what a bundle says against what judging its candidate once more says. Pure comparison;
// whoever calls it builds, runs and times (cli/recheck.cc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "evidence/bundle.h"

namespace pragma {

// The judgement made now, on this machine.
struct Rejudged {
  Evaluation same_seed;   // with the recorded seed
  Evaluation fresh_seed;  // with one drawn after the build
  std::string pragma;
  std::string system;
  std::string kernel_header_sha256;
  JudgingOptions options;
  bool timed = true;        // false: checks only, as asked for
  std::string not_against;  // why the run's best was not timed against; empty: it was, or none was
};

enum class Weight : std::uint8_t {
  kNote,     // worth knowing: another machine, another compiler, a figure that moved a little
  kRefutes,  // what the bundle claims does not hold here
};
[[nodiscard]] std::string_view WeightName(Weight weight);  // "note", "refutes"

struct Difference {
  std::string what;  // "status", "object", "error", "speedup.eager", "cpu", ...
  Weight weight = Weight::kNote;
  std::string recorded;  // foreign text: as the bundle has it
  std::string now;
  std::string detail;
};

enum class RecheckVerdict : std::uint8_t { kConfirmed, kConfirmedWithNotes, kRefuted };
[[nodiscard]] std::string_view VerdictName(RecheckVerdict verdict);

struct RecheckReport {
  std::vector<Difference> differences;
  RecheckVerdict verdict = RecheckVerdict::kConfirmed;
};

// The rules stand in docs/evidence.md.
[[nodiscard]] RecheckReport CompareWithRecord(const Bundle& recorded, const Rejudged& now);

// A speed-up may fall this far short of the whole recorded interval, on the same machine, before
// it counts as refuted: machines drift by more than the interval of one sitting.
inline constexpr double kSpeedupSlack = 1.1;

}  // namespace pragma
