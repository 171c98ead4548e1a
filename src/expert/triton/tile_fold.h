// The text of folds over tiles: what is kept, how a tile is added, what is left at the end.
#pragma once

#include <set>
#include <string>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/triton/py_lines.h"

namespace pragma::expert::triton {

// Small functions that kernels call, by name.
using Helpers = std::set<std::string>;
[[nodiscard]] std::string HelperText(const std::string& name);

struct TileFold {
  Fold fold = Fold::kSum;
  ExprType type = ExprType::kFloat;
  std::string name;   // of the variable; that of positions has "_place" behind it
  std::string shape;  // "(ROWS, COLUMNS)"
};

inline constexpr const char* kNoPlace = "2147483647";  // of no element
// What changes nothing.
[[nodiscard]] std::string NeutralText(Fold fold, ExprType type);
// `value` where `inside` says so, else what changes nothing; positions likewise.
[[nodiscard]] std::string Guarded(const TileFold& fold, const std::string& value,
                                  const std::string& inside);

void DeclareFold(const TileFold& fold, PyLines& out);
void AddToFold(const TileFold& fold, const std::string& value, const std::string& position,
               Helpers& helpers, PyLines& out);
// A tile (or pair of tiles) along its last axis, into the fold's variables.
void ReduceFold(const TileFold& fold, const std::string& value, const std::string& position,
                Helpers& helpers, PyLines& out);

// Of a scan: the running values of a tile, and one value for what came before with the next.
[[nodiscard]] std::string RunningText(const TileFold& fold, const std::string& value,
                                      Helpers& helpers);
[[nodiscard]] std::string ReducedText(const TileFold& fold, const std::string& value,
                                      Helpers& helpers);
[[nodiscard]] std::string CombinedText(Fold fold, ExprType type, const std::string& a,
                                       const std::string& b);

}  // namespace pragma::expert::triton
