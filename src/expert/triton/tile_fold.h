// Writes the code of reductions over tiles: the accumulators, how a tile is added, and the final
// result.
#pragma once

#include <set>
#include <string>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/triton/py_lines.h"

namespace pragma::expert::triton {

// Names of small functions that kernels call.
using Helpers = std::set<std::string>;
[[nodiscard]] std::string HelperText(const std::string& name);

struct TileFold {
  Fold fold = Fold::kSum;
  ExprType type = ExprType::kFloat;
  std::string name;   // name of the variable; the variable for positions has "_place" appended
  std::string shape;  // "(ROWS, COLUMNS)"
  bool wide = false;  // positions take 64 bits
};

// Returns the position that stands for no element. It is greater than all others.
[[nodiscard]] const char* NoPlace(bool wide);
// Returns the identity element of a reduction.
[[nodiscard]] std::string NeutralText(Fold fold, ExprType type);
// Returns `value` where `inside` is true, and the identity element elsewhere. For positions it does
// the same.
[[nodiscard]] std::string Guarded(const TileFold& fold, const std::string& value,
                                  const std::string& inside);

void DeclareFold(const TileFold& fold, PyLines& out);
void AddToFold(const TileFold& fold, const std::string& value, const std::string& position,
               Helpers& helpers, PyLines& out);
// Reduces a tile (or a pair of tiles) along its last axis into the variables of the fold.
void ReduceFold(const TileFold& fold, const std::string& value, const std::string& position,
                Helpers& helpers, PyLines& out);

// Code for scans. RunningText returns the running values of a tile. ReducedText returns the result
// over a whole tile. CombinedText combines the result so far with the next.
[[nodiscard]] std::string RunningText(const TileFold& fold, const std::string& value,
                                      Helpers& helpers);
[[nodiscard]] std::string ReducedText(const TileFold& fold, const std::string& value,
                                      Helpers& helpers);
[[nodiscard]] std::string CombinedText(Fold fold, ExprType type, const std::string& a,
                                       const std::string& b);

}  // namespace pragma::expert::triton
