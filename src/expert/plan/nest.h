// Nest: steps that share their outer loops, in the form in which they are written. Planning decides
// which steps share a nest, along which dimension vectors run, and which values are forwarded in
// registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Steps that run in one pass over the inner dimensions or, if `outer` is set, once after them.
struct Phase {
  bool outer = false;
  std::vector<std::size_t> steps;  // indices of steps of the nest
};

struct Nest {
  Shape shape;              // no dimension of size 1, unless it is the only one
  std::vector<bool> inner;  // dimensions inside the phases: those that are reduced or scanned
  std::vector<Step> steps;  // over `shape`; outer steps have no inner dimension in their forms
  std::vector<bool> outer;  // one flag per step
  std::vector<Phase> phases;
  int lane = -1;             // the dimension along which vectors run; -1: scalar code
  bool anchored = false;     // a product, convolution or attention with an epilogue, which is not
                             // written as loops
  int repeat = -1;           // same meaning as Step::repeat
  bool one_thread = false;   // the threads share what is around it
  std::int64_t depth = 1;    // depth of an anchored product
  bool keeps_right = false;  // anchored: the right matrix, or the weight, is the same in all
                             // iterations of a repeat, or for all images of slices
  std::set<int> forwarded;   // buffers that only this nest reads, and never from memory
  std::set<int> rows;        // buffers private to each thread, with the lifetime of the thread's
                             // work

  [[nodiscard]] bool LaneInside() const {
    return lane >= 0 && inner[static_cast<std::size_t>(lane)];
  }
  [[nodiscard]] std::int64_t OuterCount() const;
  [[nodiscard]] std::int64_t InnerCount() const;
};

// Removes steps whose results no output needs.
void RemoveUnused(Program& program);
[[nodiscard]] bool Reads(const Nest& nest, int buffer);
[[nodiscard]] bool Writes(const Nest& nest, int buffer);

// Describes what the steps of a nest do, each once, such as "matmul, relu over [64, 64]".
[[nodiscard]] std::string InWords(const Nest& nest);

// The following functions are the parts of planning (plan_nests.h).
//
// Removes dimensions of size 1 from a step. A reduction of one element becomes a map.
void DropUnitDims(Step& step);
// Merges neighbouring dimensions that every form treats as one.
void MergeDims(Nest& nest);
// Splits the steps into phases. A pass ends before a step that needs the result of a reduction in
// that pass.
void MakePhases(Nest& nest);

}  // namespace pragma::expert
