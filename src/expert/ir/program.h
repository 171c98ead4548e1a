// Program: a module as loop nests in order, each writing one buffer; what the graph is lowered to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/diagonals.h"
#include "expert/ir/expression.h"

namespace pragma::expert {

struct Buffer {
  enum class Kind : std::uint8_t { kArgument, kOutput, kScratch };
  Kind kind = Kind::kScratch;
  std::string name;  // a C++ identifier
  DType dtype = DType::kFloat32;
  Shape shape;  // contiguous
};

enum class Fold : std::uint8_t { kSum, kProduct, kMin, kMax, kArgMin, kArgMax };

// A product of two tensors summed over shared dimensions, kept beside its plain loops so that a
// generator for this family may take the step over. Loads are over the step's shape.
struct ProductHint {
  ExprPtr left;
  ExprPtr right;
  ExprPtr bias;            // added to each element; may be null
  Diagonals left_nonzero;  // of the matrices of each operand
  Diagonals right_nonzero;
};

// The same of a convolution; sizes of the spatial dimensions are in order, last innermost.
struct ConvolutionHint {
  int input = 0;  // buffers, contiguous
  int weight = 0;
  int bias = -1;  // none
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  Shape in_size;
  Shape out_size;
  Shape kernel;
  Shape stride;
  Shape padding;
  Shape dilation;
  bool transposed = false;
};

// Weights times values, where the weights are the softmax of scores that are products themselves.
// Forms are over [batch, row, key, last]: last is the depth of the scores' product (query, key), or
// the column of the result (value). `score` is over [batch, row, key].
struct AttentionHint {
  Shape shape;  // batch, rows, keys
  std::int64_t depth = 1;
  ExprPtr query;
  ExprPtr key;
  ExprPtr value;
  ExprPtr score;            // of the product, which is what it loads from `product`
  int product = 0;          // a buffer that nobody writes any more
  bool empty_zero = false;  // rows without any weight are zero, else NaN
};

struct Step {
  enum class Kind : std::uint8_t { kMap, kFold, kScan };
  Kind kind = Kind::kMap;
  Fold fold = Fold::kSum;    // kFold, kScan
  Shape shape;               // of the loop nest
  std::vector<bool> folded;  // dimensions that are folded; the one that is scanned
  ExprPtr expr;
  AffineForm position;  // kArgMin, kArgMax: the number of an element
  int buffer = 0;
  AffineForm place;  // where the result goes in the buffer
  std::string name;  // of the graph's node: names variables
  std::string what;  // for the comment
  std::optional<ProductHint> product;
  std::optional<ConvolutionHint> convolution;
  std::optional<AttentionHint> attention;  // the step's expression is only what it loads
  int repeat = -1;                         // of the program's repeats; steps of one are neighbours
  int parts = 1;  // with a hint: how many steps from here on make the whole
};

// Steps that run many times in turn, as each time needs what the time before it made.
struct Repeat {
  std::int64_t count = 1;
  std::map<int, std::int64_t> step;  // buffer -> how far its elements move on each time
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Repeat> repeats;
};

// The reduction's result is the position of an element, not a value.
[[nodiscard]] bool IsArgFold(Fold fold);
[[nodiscard]] bool IsPosition(const Step& step);

// The buffer of each output of the task, found by its name, so before names change; -1: none, as
// nothing writes it.
[[nodiscard]] std::vector<int> OutputBuffers(const Task& task, const Program& program);

}  // namespace pragma::expert
