// Writes the code of reductions (folds): the accumulators, how an element is added, and the final
// result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

struct FoldForm {
  Fold fold = Fold::kSum;
  ExprType type = ExprType::kFloat;
  std::string name;
  bool vector = false;       // over vectors, else over single elements
  bool columns = false;      // one accumulator per vector: an array over V
  bool running = false;      // a scan (running reduction): along the lanes, its accumulator holds
                             // the result of the elements before
  std::string chains = "1";  // along the lanes: number of accumulators, as code; an array indexed
                             // by u
};

// Returns the identity element: the result of a reduction over no elements.
[[nodiscard]] std::string Identity(const FoldForm& form);
[[nodiscard]] std::vector<std::string> DeclareFold(const FoldForm& form);
[[nodiscard]] std::vector<std::string> AddToFold(const FoldForm& form, const std::string& value,
                                                 const std::string& position);
// Returns the code that combines the accumulators, over lanes and chains, into one number.
[[nodiscard]] std::string FoldResult(const FoldForm& form);

// Code for a reduction that all threads share.
[[nodiscard]] std::string DeclareShared(const FoldForm& form);
[[nodiscard]] std::string AddToShared(const FoldForm& form, const std::string& shared,
                                      const std::string& part);
[[nodiscard]] std::string_view ReductionClause(Fold fold);

}  // namespace pragma::expert
