// Interface shared by the generators of anchor operators (matrix products, convolutions). An anchor
// is the operator that a dedicated generator writes, and pointwise operators are fused behind it.
// This header declares how generators call back for the fused pointwise operators, what they
// return, and the code that packs operands.
//
// Each generated kernel is a namespace. `NAME::Run(inputs..., extra..., scratch)` computes the
// operator. `NAME::kScratchBytes` is the size of the scratch memory that it needs, which must be
// 64-byte aligned; its contents need not survive a call. The kernel's constants for the tuner begin
// with NAME in capitals.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/cpp/vector_preamble.h"
#include "expert/ir/target.h"
#include "expert/plan/choices.h"
#include "expert/plan/tuning.h"

namespace pragma::expert {

// A Vec of results on its way to memory, as an epilogue sees it. The members are names of variables
// or expressions in the generated code.
struct OutputSite {
  std::string_view value = "value";    // a Vec; the epilogue changes it in place
  std::string_view index = "index";    // index of lane 0, in elements from the start of the output
  std::string_view batch = "batch";    // matrix products: index within the batch; convolutions:
                                       // image
  std::string_view row = "row";        // row of lane 0; convolutions: the output channel
  std::string_view column = "column";  // column of lane 0; convolutions: the pixel, counted through
                                       // the whole output plane or volume, last dimension fastest
  std::string_view lanes = "kLanes";   // number of lanes that are in use
  bool whole = true;                   // all lanes are in use: Load and Store replace the Part
                                       // forms
  // The coordinate that grows from lane to lane. Each lane's index is one greater than that of the
  // lane before.
  enum class Along : std::uint8_t { kRow, kColumn };
  Along along = Along::kColumn;
};

// Returns the statements that change site.value. An empty function means that nothing is fused.
using Epilogue = std::function<std::string(const OutputSite& site)>;

// Returns whether an epilogue's code is so long that repeating it for each vector of a tile would
// make kernels compile slowly and overflow the instruction cache.
[[nodiscard]] bool IsLong(const Epilogue& epilogue);

// A parameter of Run that the epilogue reads, such as {"const float*", "bias"}.
struct ExtraParameter {
  std::string type;
  std::string name;
};

struct KernelText {
  std::string code;              // needs PackingText() in front of it, once for all kernels
  std::set<VectorPiece> pieces;  // pieces of the preamble that the code needs, including those for
                                 // packing
  bool keeps = false;            // NAME::Pack lays an operand out once for many calls of Run
  CppFacts facts;
};

// Returns the number of blocks that cover `size` elements. The last block may be partial.
[[nodiscard]] constexpr std::int64_t Blocks(std::int64_t size, std::int64_t block) {
  return (size + block - 1) / block;
}

// Returns templates that copy panels of a matrix into the order in which a kernel reads them.
[[nodiscard]] std::string_view PackingText();

// Returns `text` with each @name@ replaced by its value. Every name must be in `values`.
using Places = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] std::string FillIn(std::string_view text, const Places& values);

// The tile of results that a kernel keeps in registers: rows times vectors.
struct RegisterTile {
  std::int64_t rows = 1;
  std::int64_t vectors = 1;
};
// Returns the tile that covers rows x columns with the least time in the innermost loop.
[[nodiscard]] RegisterTile BestTile(const KernelTarget& target, std::int64_t rows,
                                    std::int64_t columns);

// Return ", const float* bias, ..." and ", bias, ...".
[[nodiscard]] std::string ExtraParameters(const std::vector<ExtraParameter>& extra);
[[nodiscard]] std::string ExtraArguments(const std::vector<ExtraParameter>& extra);
// Returns a number for the tuner with its default and other values, of which those below 1 are left
// out.
[[nodiscard]] TunableNumber NumberOf(std::string name, std::int64_t value,
                                     std::vector<std::int64_t> others);
[[nodiscard]] std::string InCapitals(std::string_view name);

}  // namespace pragma::expert
