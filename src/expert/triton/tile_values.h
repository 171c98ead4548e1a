// TileValues: expressions of a nest as Triton's text over tiles. What is used twice has a name, and
// what does not vary inside a loop is computed before it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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

// Names of one kernel.
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

  // Lines of what varies with `loop` go to `body`, of the rest to `before`. Without a loop both
  // are one, and what is named stays known.
  void Begin(PyLines* before, PyLines* body, Axes loop);
  // Of all that is written from now on: counts uses, so that what is used twice is named.
  void CountUses(const ExprPtr& expr) { expert::CountUses(expr, uses_); }
  [[nodiscard]] TileText Write(const ExprPtr& expr);

  // Loads of a buffer are this value: for good, or until the next Begin.
  void Keep(int buffer, TileText value) { kept_[buffer] = std::move(value); }
  void KeepHere(int buffer, TileText value) { here_[buffer] = std::move(value); }
  // ... or are computed again.
  void Recompute(int buffer, ExprPtr expr) { recomputed_[buffer] = std::move(expr); }

  [[nodiscard]] TileText Named(std::string_view stem, const TileText& value);
  void Store(PyLines& out, int buffer, const AffineForm& place, const TileText& value);
  // What the text has loaded or stored.
  [[nodiscard]] const std::set<int>& buffers() const { return buffers_; }

 private:
  [[nodiscard]] bool VariesInLoop(const ExprPtr& expr) const;
  TileText WriteNode(const ExprPtr& expr);
  TileText WriteLoad(const Expr& expr);
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
  // By the text that they stand for.
  std::map<std::string, std::string> outside_;
  std::map<std::string, std::string> inside_;
  std::set<int> buffers_;
};

}  // namespace pragma::expert::triton
