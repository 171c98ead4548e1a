// Tuning: which numbers of a kernel are left to the tuner, and what their defaults are. Emitters
// declare their numbers through it and report them, so that no text is searched for them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expert/plan/variant.h"

namespace pragma::expert {

// A number of the generated code that the tuner may change.
struct TunableNumber {
  std::string name;
  int value = 0;            // the default
  std::vector<int> values;  // all values; the default is one of them
};

struct Tuning {
  std::set<std::string> constants;      // the numbers for which the tuner has no room
  std::map<std::string, int> defaults;  // defaults that the variant asks for

  // Returns the line that declares a number: a PRAGMA_TUNE or a constant. A tunable is added to
  // `declared`.
  [[nodiscard]] std::string Declare(TunableNumber number,
                                    std::vector<TunableNumber>& declared) const;
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

// Returns the tuning for a kernel with these numbers, in the order of its text. The first ones stay
// tunables, as many as the tuner takes in one source. Their defaults are the variant's where it has
// one of their values.
[[nodiscard]] Tuning WithinTuner(const std::vector<TunableNumber>& numbers,
                                 const KernelVariant& variant);

}  // namespace pragma::expert
