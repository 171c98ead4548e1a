// How results of a matrix product reach memory: the part that all families share.
#pragma once

#include <cstdint>
#include <string>

#include "expert/cpp/matmul_kernel.h"

namespace pragma::expert {

struct MatmulFinish {
  bool swapped = false;  // a and b, and rows and columns, have changed places
  bool blocked = false;  // the depth comes in blocks: results are added to those before
  bool stream = false;   // past the caches
  // Where a batch has become one long matrix: the rows of one of them. 0: it has not.
  std::int64_t rows_of_one = 0;
};

// `Finish` and `FinishPart`, and what masks triangles.
[[nodiscard]] std::string MatmulFinishText(const MatmulSpec& spec, const MatmulFinish& finish);

// "std::int64_t batch, " and "batch, " where there is more than one.
[[nodiscard]] std::string BatchParameter(const MatmulSpec& spec);
[[nodiscard]] std::string BatchArgument(const MatmulSpec& spec);
[[nodiscard]] bool IsTriangular(const MatmulSpec& spec);
[[nodiscard]] bool IsDiagonal(const MatmulSpec& spec);

}  // namespace pragma::expert
