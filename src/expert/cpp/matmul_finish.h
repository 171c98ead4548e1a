// How results of a matrix product are written to memory. All families of matrix products share this
// part.
#pragma once

#include <cstdint>
#include <string>

#include "expert/cpp/matmul_kernel.h"

namespace pragma::expert {

struct MatmulFinish {
  bool swapped = false;  // a and b are exchanged, and so are rows and columns
  bool blocked = false;  // the depth is split into blocks; results are added to those of earlier
                         // blocks
  bool stream = false;   // non-temporal (streaming) stores
  // Where a batch has been merged into one long matrix: the number of rows of one original matrix.
  // 0 means that it has not been merged.
  std::int64_t rows_of_one = 0;
};

// Returns the code of `Finish` and `FinishPart`, and of the function that masks triangles.
[[nodiscard]] std::string MatmulFinishText(const MatmulSpec& spec, const MatmulFinish& finish);

// Return "std::int64_t batch, " and "batch, " where there is more than one matrix.
[[nodiscard]] std::string BatchParameter(const MatmulSpec& spec);
[[nodiscard]] std::string BatchArgument(const MatmulSpec& spec);
[[nodiscard]] bool IsTriangular(const MatmulSpec& spec);
[[nodiscard]] bool IsDiagonal(const MatmulSpec& spec);

}  // namespace pragma::expert
