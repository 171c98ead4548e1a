// Operators: one table of what the expert knows about each operator: its name in PyTorch's graph,
// its cost, and how it is spelled in C++ for single values, in C++ for vectors, and in Triton.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expert/ir/expression.h"

namespace pragma::expert {

// How an operator is written in one dialect: patterns with {x} and {y} for its arguments, and
// {one}, {zero} and {half} for numbers of their type.
struct Spelling {
  std::string real;      // empty: the dialect has no form of its own
  std::string integer;   // empty: as for real numbers
  std::string flag;      // empty: as for integers
  bool library = false;  // the form for real numbers needs the dialect's library of functions
  std::string helper{};  // a function that the form calls, which the module defines; empty: none

  [[nodiscard]] bool empty() const { return real.empty(); }
  [[nodiscard]] const std::string& For(ExprType type) const;
};

struct Operator {
  ExprOp op = ExprOp::kConstant;
  std::string aten;  // an operator of PyTorch that is this one for all types; empty: none
  int arguments = 1;
  double cost = 1;    // simple vector instructions for each element
  std::string sign;   // "+", where vectors and Triton write the operator between its arguments
  Spelling scalar;    // C++, single values
  Spelling vector;    // C++, vectors; empty: for each lane, by the scalar form
  std::string piece;  // the preamble's piece with the vector function; empty: none is needed
  Spelling triton;
};

// Returns all operators. To add an elementary function: its ExprOp, its line in this table and, for
// vectors, its polynomial in cpp/vector_text_math.cc.
[[nodiscard]] const std::vector<Operator>& Operators();
// Returns the operator, or null for constants, loads, indices, casts and selections.
[[nodiscard]] const Operator* FindOperator(ExprOp op);

// What the patterns of a spelling stand for.
struct Operands {
  std::string_view x;
  std::string_view y;
  std::string_view zero = "0.0";
  std::string_view half = "0.5";
  std::string_view one = "1.0";
  std::string_view minus_root_half = "-0.7071067811865476";  // -sqrt(1/2)
};
[[nodiscard]] std::string Spelled(std::string_view pattern, const Operands& operands);

}  // namespace pragma::expert
