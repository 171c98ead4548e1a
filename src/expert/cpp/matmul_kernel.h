// Matrix products: C++ text for one product whose sizes are known. c = epilogue(a * b).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/ir/diagonals.h"
#include "expert/ir/structure.h"

namespace pragma::expert {

// Steps in elements, so that any transposition and any slice is a set of numbers. `first` is the
// step along the matrix's first index (a: row, b: depth, c: row), `second` along its second.
struct MatrixSteps {
  std::int64_t batch = 0;
  std::int64_t first = 0;
  std::int64_t second = 1;
};

struct MatmulSpec {
  std::string name = "matmul";  // the namespace of the text
  std::int64_t batch = 1;
  std::int64_t rows = 1;     // of a and c
  std::int64_t columns = 1;  // of b and c
  std::int64_t depth = 1;    // columns of a, rows of b
  MatrixSteps a;
  MatrixSteps b;
  MatrixSteps c;  // c.first or c.second is 1 (or that dimension is 1)
  MatmulStructure structure = MatmulStructure::kNone;
  std::int64_t diagonal = 0;  // of triu and tril
  // Steps of the depth where all of a tile's factors are zero are passed over.
  Diagonals a_nonzero;
  Diagonals b_nonzero;
  // c starts at a multiple of 64 bytes: then outputs that no cache holds are written past them.
  bool aligned_output = true;
  // b is the same for many calls: its panels are packed once, where the text has a Pack for it.
  bool keeps_b = false;
  Epilogue epilogue;
  std::vector<ExtraParameter> extra;
};

// `static void NAME::Run(const float* a, const float* b, float* c, extra..., char* scratch)`.
// Where KernelText::keeps: NAME::Pack(const float* b, char* scratch) once before; Run then needs
// the scratch as it was left.
[[nodiscard]] KernelText GenerateMatmul(const MatmulSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
