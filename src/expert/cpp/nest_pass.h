// InnerPass: one pass of a phase over the inner loops. What is inside the loops is written first,
// because it decides what must be declared before them.
#pragma once

#include <cstddef>
#include <vector>

#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/nest_limits.h"
#include "expert/cpp/writer.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

class InnerPass final {
 public:
  // Declares the accumulators, and writes into body() what the steps do with one element. `deeper`
  // is the number of braces that the caller opens within the loops.
  InnerPass(NestContext& context, NestFolds& folds, const Phase& phase, int deeper);
  InnerPass(const InnerPass&) = delete;
  InnerPass& operator=(const InnerPass&) = delete;

  [[nodiscard]] Writer& body() { return body_; }
  void OpenLoops();
  // Closes the loops, and writes the results of reductions.
  void Close();

 private:
  NestContext& context_;
  NestFolds& folds_;
  const Phase& phase_;
  std::vector<std::size_t> loops_;
  LoopLimits limits_;
  Writer body_;
};

}  // namespace pragma::expert
