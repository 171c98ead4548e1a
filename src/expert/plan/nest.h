// Nest: steps that share their outer loops, as they will be written. Planning decides which steps
// share a nest, in which dimension vectors run, and what is forwarded in registers.
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

// Steps that run in one pass over the inner dimensions, or (outer) once after them.
struct Phase {
  bool outer = false;
  std::vector<std::size_t> steps;  // of the nest
};

struct Nest {
  Shape shape;              // no dimension of size 1, unless it is the only one
  std::vector<bool> inner;  // dimensions inside the phases: those that are folded or scanned
  std::vector<Step> steps;  // over `shape`; outer steps have no inner dimension in their forms
  std::vector<bool> outer;  // per step
  std::vector<Phase> phases;
  int lane = -1;             // the dimension that vectors run along; -1: plain code
  bool anchored = false;     // written by a generator of its family: see anchored.h
  int repeat = -1;           // as its steps
  std::int64_t depth = 1;    // of an anchored product
  bool keeps_right = false;  // of one in a repeat: the right matrix is the same in all turns
  std::set<int> forwarded;   // buffers that only this nest reads, and never from memory
  std::set<int> rows;        // buffers that each thread has for itself, as long as it works

  [[nodiscard]] bool LaneInside() const {
    return lane >= 0 && inner[static_cast<std::size_t>(lane)];
  }
  [[nodiscard]] std::int64_t OuterCount() const;
  [[nodiscard]] std::int64_t InnerCount() const;
};

// Leaves out what no output needs.
void RemoveUnused(Program& program);
[[nodiscard]] std::vector<Nest> PlanNests(const Program& program);

[[nodiscard]] bool Reads(const Nest& nest, int buffer);
[[nodiscard]] bool Writes(const Nest& nest, int buffer);

// "matmul, relu over [64, 64]": what its steps do, each said once.
[[nodiscard]] std::string InWords(const Nest& nest);

// What planning is made of, for other back ends.
// A step without dimensions of size 1; a fold of one element becomes a map.
void DropUnitDims(Step& step);
// Neighbouring dimensions that every form treats as one become one.
void MergeDims(Nest& nest);
// A pass ends before a step that needs what the pass folds.
void MakePhases(Nest& nest);

// Whether a value varies with a dimension of the nest.
[[nodiscard]] bool DependsOn(const ExprPtr& expr, std::size_t dimension);

}  // namespace pragma::expert
