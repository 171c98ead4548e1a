// TuneSpace: the choices that a candidate's source leaves to the tuner (docs/tuning.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "build/tunables.h"
#include "core/candidate.h"
#include "tune/constraint.h"

namespace pragma {

struct TuneSpace {
  std::vector<Tunable> tunables;  // in the order of the source
  // The alternatives of "// pragma-tune-flags:", which are added to the candidate's own flags. The
  // first alternative adds nothing.
  std::vector<std::vector<std::string>> flags{{}};
  std::vector<Constraint> constraints;
  // Returns true if there is something to choose.
  [[nodiscard]] bool open() const;
};

// Reads the space from the source. The error names the line of the source and what to change there.
// A space has at most 65536 combinations, and its defaults satisfy its constraints.
[[nodiscard]] Result<TuneSpace> ReadTuneSpace(const Candidate& candidate);

// Returns true for a candidate whose tunables were chosen before. Such a candidate is built as it
// is.
[[nodiscard]] bool HasChoices(const Candidate& candidate, const TuneSpace& space);

struct Variant {
  std::map<std::string, std::int64_t> tunables;
  std::vector<std::string> flags;          // in addition to the candidate's own
  [[nodiscard]] std::string Text() const;  // "TILE=8, UNROLL=2, flags -O2"
};

struct VariantList {
  std::vector<Variant> variants;  // the default first, then a sample in random order
  std::size_t combinations = 0;   // number that satisfy the constraints; may exceed the list
};

// Returns at most `most` variants (at least one). Their order is random, so that running out of
// time does not favour any value.
[[nodiscard]] VariantList SampleVariants(const TuneSpace& space, std::size_t most, Rng& rng);

// Returns the candidate with the variant's choices recorded in it.
[[nodiscard]] Candidate WithVariant(const Candidate& candidate, const Variant& variant);

}  // namespace pragma
