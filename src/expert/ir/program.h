// Program: a module as loop nests in order, each writing one buffer. Lowering produces it from the
// graph.
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

// A product of two tensors summed over shared dimensions. It is kept in addition to the step's
// plain loops, so that the generator for this family may take over the step. Loads are over the
// step's shape.
struct ProductHint {
  ExprPtr left;
  ExprPtr right;
  ExprPtr bias;            // added to each element; may be null
  Diagonals left_nonzero;  // nonzero bands of the matrices of each operand
  Diagonals right_nonzero;
};

// A convolution, kept in addition to the step's plain loops. Sizes of the spatial dimensions are in
// order, the innermost last.
struct ConvolutionHint {
  int input = 0;  // number of a contiguous buffer
  int weight = 0;
  int bias = -1;  // -1: there is no bias
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

// Attention: weights times values, where the weights are the softmax of scores that are products
// themselves. Forms are over [batch..., row, key, last]. For query and key, last is the depth of
// the product of the scores; for value it is the column of the result. `score` is over [batch...,
// row, key].
struct AttentionHint {
  Shape shape;  // batch dimensions, rows, keys
  std::int64_t depth = 1;
  ExprPtr query;
  ExprPtr key;
  ExprPtr value;
  ExprPtr score;            // score as a function of the product, which it loads from `product`
  int product = 0;          // a buffer that is no longer written
  bool empty_zero = false;  // rows without any weight give zero, else NaN
};

// Work on whole lines of a tensor that no loop nest expresses. Operands are contiguous buffers
// [outer, length, inner], and a line runs along `length`.
struct Routine {
  enum class Kind : std::uint8_t {
    kSort,            // the places of a line's first `kept` elements in sorted order
    kRunningExtreme,  // the place of the extreme up to each element
    kSearch,          // where in a sorted line [lines, length] each value [lines, kept] belongs
    kFourier,         // the transform of each line; see below
    kMatrices,        // linear algebra on each of many small matrices; see below
    kScatter,         // a write to a place that depends on data; see below
  };
  Kind kind = Kind::kSort;
  std::vector<int> operands;
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
  std::int64_t kept = 0;
  bool last = false;     // kSort: only the last of the `kept` places is wanted
  bool largest = false;  // kSort: the largest first; kRunningExtreme: the maximum
  bool after = false;    // kSearch: behind equal elements, not before them
  // kFourier: the line has `length` points, and the result the first `kept` of the transform.
  // Complex numbers are pairs of neighbours. Of a real result the operand has the first half, and
  // one more.
  bool real_input = false;
  bool real_output = false;
  bool forward = true;  // the exponents are negative
  double scale = 1;     // of the result
  // kMatrices: `outer` square matrices of `length` rows, and for systems of equations as many right
  // sides [length, kept] as a second operand.
  enum class Matrix : std::uint8_t {
    kInverse,
    kDeterminant,  // three numbers: its sign, the logarithm of its size, itself
    kCholesky,     // the lower factor of the lower half
    kSolve,        // by LU with partial pivoting
    kTriangle,     // solves with what is above (`upper`) or below the diagonal
  };
  Matrix matrix = Matrix::kInverse;
  bool upper = false;
  bool unit = false;  // the diagonal is taken as ones
  // kScatter: the step's expression is a pair, made as a sum: the value, and a load of the element
  // of the result that it goes to. The step's buffer holds what the values are combined with.
  std::optional<Fold> combine;  // without: the last value replaces what was there
  bool overlaps = false;        // only the first dimension has elements of its own in the result
};

struct Step {
  enum class Kind : std::uint8_t { kMap, kFold, kScan, kRoutine };
  Kind kind = Kind::kMap;
  Fold fold = Fold::kSum;    // operation of kFold and kScan
  Shape shape;               // shape of the loop nest
  std::vector<bool> folded;  // the dimensions that are reduced; for a scan, the one that is scanned
  ExprPtr expr;
  AffineForm position;  // kArgMin, kArgMax: the index of an element
  int buffer = 0;
  AffineForm place;  // offset of the result in the buffer
  std::string name;  // name of the graph's node; names variables
  std::string what;  // description for the comment in the generated code
  std::optional<ProductHint> product;
  std::optional<ConvolutionHint> convolution;
  std::optional<Routine> routine;          // of kRoutine; its expression lists what it loads
  std::optional<AttentionHint> attention;  // the step's expression then only lists what it loads
  int repeat = -1;                         // index into the program's repeats; the steps of one
                                           // repeat are neighbours
  int parts = 1;  // with a hint: number of steps, from this one on, that form the whole operator
  bool beside = false;  // the elements that it writes are written by no other step, though others
                        // write into the same buffer
};

// A group of steps that runs many times in sequence, since each iteration needs results of the one
// before.
struct Repeat {
  std::int64_t count = 1;
  std::map<int, std::int64_t> step;  // buffer -> distance in elements by which it advances in each
                                     // iteration
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Repeat> repeats;
};

[[nodiscard]] inline const Buffer& BufferOf(const Program& program, int buffer) {
  return program.buffers[static_cast<std::size_t>(buffer)];
}

// Returns whether the result of the reduction is the position of an element, not a value.
[[nodiscard]] bool IsArgFold(Fold fold);
[[nodiscard]] bool IsPosition(const Step& step);

// Returns the buffer of each output of the task. Outputs are found by name, so call this before
// names change. -1 means that no step writes the output.
[[nodiscard]] std::vector<int> OutputBuffers(const Task& task, const Program& program);

}  // namespace pragma::expert
