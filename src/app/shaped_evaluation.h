// ShapedEvaluation combines the evaluations of one candidate on several shapes into one.
#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"
#include "task/shapes.h"

namespace pragma {

inline constexpr const char* kAsWritten = "as written";

class ShapedEvaluation final {
 public:
  // `first` is the evaluation on the task as it is written.
  explicit ShapedEvaluation(Evaluation first);
  void Add(const ShapeSet& set, const Evaluation& evaluation);
  [[nodiscard]] bool passed() const { return all_.passed(); }
  [[nodiscard]] const std::string& seed() const { return all_.seed; }
  // Returns the first evaluation, or the one that failed. Its speed-ups are geometric means over
  // the shapes.
  [[nodiscard]] Evaluation Take() &&;

 private:
  Evaluation all_;
};

}  // namespace pragma
