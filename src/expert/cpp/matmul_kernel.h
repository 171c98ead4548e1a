// Matrix product generator: writes C++ code for one product c = epilogue(a * b) with known sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/ir/diagonals.h"
#include "expert/ir/structure.h"

namespace pragma::expert {

// Strides in elements, so that a transposition or a slice is only a different set of numbers.
// `first` is the stride along the matrix's first index (a: row, b: depth, c: row), `second` the
// stride along its second.
struct MatrixSteps {
  std::int64_t batch = 0;
  std::int64_t first = 0;
  std::int64_t second = 1;
};

struct MatmulSpec {
  std::string name = "matmul";  // namespace of the generated code
  std::int64_t batch = 1;
  std::int64_t rows = 1;     // rows of a and c
  std::int64_t columns = 1;  // columns of b and c
  std::int64_t depth = 1;    // columns of a, rows of b
  MatrixSteps a;
  MatrixSteps b;
  MatrixSteps c;  // c.first or c.second is 1 (or that dimension has size 1)
  MatmulStructure structure = MatmulStructure::kNone;
  std::int64_t diagonal = 0;  // the diagonal of triu and tril
  // Steps of the depth in which all factors of a tile are zero are skipped.
  Diagonals a_nonzero;
  Diagonals b_nonzero;
  // c starts at a multiple of 64 bytes. Outputs that do not fit in any cache are then written with
  // non-temporal stores.
  bool aligned_output = true;
  // b is the same for many calls. Its panels are packed once, where the generated code has a Pack
  // for it.
  bool keeps_b = false;
  Epilogue epilogue;
  std::vector<ExtraParameter> extra;
  Tuning tuning;
};

// Generates `static void NAME::Run(const float* a, const float* b, float* c, extra..., char*
// scratch)`. Where KernelText::keeps is set, NAME::Pack(const float* b, char* scratch) must be
// called once before Run, and Run then needs the scratch memory as Pack left it.
[[nodiscard]] KernelText GenerateMatmul(const MatmulSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
