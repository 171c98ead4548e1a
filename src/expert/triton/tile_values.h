// TileValues: writes expressions of a nest as Triton code over tiles. A value that is used twice is
// given a name, and a value that does not vary inside a loop is computed before it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_index.h"

namespace pragma::expert::triton {

struct TileText {
  std::string code;
  Axes axes = 0;
  ExprType type = ExprType::kFloat;
};

// The names used in one kernel.
class Names final {
 public:
  [[nodiscard]] std::string New(std::string_view stem);

 private:
  std::set<std::string, std::less<>> taken_;
};

class TileValues final {
 public:
  TileValues(const Program& program, TileIndex& index, Names& names)
      : program_(program), index_(index), names_(names) {}

  // Starts a pass. Lines for values that vary with `loop` go to `body`, all others to `before`.
  // Without a loop both are the same, and named values stay known.
  void Begin(PyLines* before, PyLines* body, Axes loop);
  // Counts the uses in everything that is written from now on, so that a value used twice is given
  // a name.
  void CountUses(const ExprPtr& expr) { expert::CountUses(expr, uses_); }
  [[nodiscard]] TileText Write(const ExprPtr& expr);
  // Sets the type of the buffer for which values are written from now on. Functions for results of
  // 16 bits may have shorter code.
  void WriteFor(DType dtype);
  // Writes a load whose value keeps the type of its buffer, as tensor cores take it.
  [[nodiscard]] TileText WriteStored(const Expr& load);

  // Replaces loads of a buffer by this value: Keep for good, KeepHere until the next Begin.
  void Keep(int buffer, TileText value) { kept_[buffer] = std::move(value); }
  void KeepHere(int buffer, TileText value) { here_[buffer] = std::move(value); }
  // Replaces loads of a buffer by computing the expression again.
  void Recompute(int buffer, ExprPtr expr) { recomputed_[buffer] = std::move(expr); }

  [[nodiscard]] TileText Named(std::string_view stem, const TileText& value);
  void Store(PyLines& out, int buffer, const AffineForm& place, const TileText& value);
  // Returns the buffers that the code has loaded or stored.
  [[nodiscard]] const std::set<int>& buffers() const { return buffers_; }
  // Returns whether the code calls libdevice.
  [[nodiscard]] bool uses_library() const { return uses_library_; }
  // Returns the functions of the module that the code calls.
  [[nodiscard]] const std::set<std::string>& helpers() const { return helpers_; }

 private:
  [[nodiscard]] bool VariesInLoop(const ExprPtr& expr) const;
  TileText WriteNode(const ExprPtr& expr);
  TileText WriteLoad(const Expr& expr);
  TileText LoadText(const Expr& expr);
  TileText WriteSelect(const Expr& expr);
  void AddBounds(const Load& load, IndexText& address, std::string& mask);

  const Program& program_;
  TileIndex& index_;
  Names& names_;
  PyLines* before_ = nullptr;
  PyLines* body_ = nullptr;
  Axes loop_ = 0;
  std::map<int, TileText> kept_;
  std::map<int, TileText> here_;
  std::map<int, ExprPtr> recomputed_;
  UseCounts uses_;
  // Names of values, keyed by the code that they stand for.
  std::map<std::string, std::string> outside_;
  std::map<std::string, std::string> inside_;
  std::set<int> buffers_;
  bool uses_library_ = false;
  bool is_short_ = false;  // values of 16 bits are written
  std::set<std::string> helpers_;
};

}  // namespace pragma::expert::triton
