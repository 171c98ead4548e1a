// The text of folds: what they keep, how an element is added, what is left at the end.
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
  bool vector = false;       // of vectors, else of single elements
  bool columns = false;      // one accumulator a vector: an array over V
  bool running = false;      // a scan: along the lanes its accumulator is what came before
  std::string chains = "1";  // along the lanes: an array of so many, named by u
};

// What a fold of nothing is.
[[nodiscard]] std::string Identity(const FoldForm& form);
[[nodiscard]] std::vector<std::string> DeclareFold(const FoldForm& form);
[[nodiscard]] std::vector<std::string> AddToFold(const FoldForm& form, const std::string& value,
                                                 const std::string& position);
// One number: what was kept, lanes and chains put together.
[[nodiscard]] std::string FoldResult(const FoldForm& form);

// Of a fold that all threads share.
[[nodiscard]] std::string DeclareShared(const FoldForm& form);
[[nodiscard]] std::string AddToShared(const FoldForm& form, const std::string& shared,
                                      const std::string& part);
[[nodiscard]] std::string_view ReductionClause(Fold fold);

}  // namespace pragma::expert
