// TuneSpace: what a candidate's source leaves to the tuner (docs/tuning.md).
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
  std::vector<Tunable> tunables;  // in the source's order
  // Alternatives of "// pragma-tune-flags:", to be added to the candidate's own; the first adds
  // nothing.
  std::vector<std::vector<std::string>> flags{{}};
  std::vector<Constraint> constraints;
  // True when there is something to choose.
  [[nodiscard]] bool open() const;
};

// The error names the line of the source and what to do there. A space has at most 65536
// combinations, and its defaults satisfy its constraints.
[[nodiscard]] Result<TuneSpace> ReadTuneSpace(const Candidate& candidate);

// A candidate whose tunables were chosen before: it is built as it says.
[[nodiscard]] bool HasChoices(const Candidate& candidate, const TuneSpace& space);

struct Variant {
  std::map<std::string, std::int64_t> tunables;
  std::vector<std::string> flags;          // added
  [[nodiscard]] std::string Text() const;  // "TILE=8, UNROLL=2, flags -O2"
};

struct VariantList {
  std::vector<Variant> variants;  // the default first, then a sample in an order by chance
  std::size_t combinations = 0;   // that the constraints allow; more than the list where sampled
};

// At most `most` (at least one). In an order by chance, so that an end for want of time favours no
// value.
[[nodiscard]] VariantList SampleVariants(const TuneSpace& space, std::size_t most, Rng& rng);

// The candidate with the variant's choices recorded in it.
[[nodiscard]] Candidate WithVariant(const Candidate& candidate, const Variant& variant);

}  // namespace pragma
