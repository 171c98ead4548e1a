// What the generators of anchor operators (matrix products, convolutions) share: how they call
// back for the pointwise operators fused behind them, what they return, and the text of packing.
//
// A generated kernel is a namespace of its own: `NAME::Run(inputs..., extra..., scratch)` computes
// the operator, `NAME::kScratchBytes` says how much scratch it needs (64-byte aligned; nothing in
// it has to survive a call). Its constants for the tuner begin with NAME in capitals.
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

namespace pragma::expert {

// A Vec of results on its way to memory, as the text of an epilogue sees it: names of variables.
struct OutputSite {
  std::string_view value = "value";    // a Vec; the epilogue changes it in place
  std::string_view index = "index";    // of lane 0, in elements from the output's start
  std::string_view batch = "batch";    // matrix products: which of the batch; convolutions: image
  std::string_view row = "row";        // of lane 0; convolutions: the output channel
  std::string_view column = "column";  // of lane 0; convolutions: the pixel, counted through the
                                       // whole output plane or volume, last dimension fastest
  std::string_view lanes = "kLanes";   // how many lanes exist
  bool whole = true;                   // all lanes exist: Load and Store instead of the Part forms
  // Which coordinate grows from lane to lane; each lane's index is one greater.
  enum class Along : std::uint8_t { kRow, kColumn };
  Along along = Along::kColumn;
};

// Statements that change site.value; none when nothing is fused.
using Epilogue = std::function<std::string(const OutputSite& site)>;

// Whether an epilogue's text is so long that repeating it for each vector of a tile would make
// kernels that compile slowly and fall out of the instruction cache.
[[nodiscard]] bool IsLong(const Epilogue& epilogue);

// A parameter of Run that the epilogue reads: {"const float*", "bias"}.
struct ExtraParameter {
  std::string type;
  std::string name;
};

struct KernelText {
  std::string code;              // needs PackingText() before it, once for all kernels
  std::set<VectorPiece> pieces;  // of the preamble, packing included
  bool keeps = false;            // NAME::Pack lays an operand out for many calls of Run
};

// How many blocks cover so many, the last one perhaps in part.
[[nodiscard]] constexpr std::int64_t Blocks(std::int64_t size, std::int64_t block) {
  return (size + block - 1) / block;
}

// Templates that bring panels of a matrix into the order in which a kernel reads them.
[[nodiscard]] std::string_view PackingText();

// `text` with each @name@ replaced by its value; every name must be known.
using Places = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] std::string FillIn(std::string_view text, const Places& values);

// How many results a kernel keeps in registers: rows times vectors.
struct RegisterTile {
  std::int64_t rows = 1;
  std::int64_t vectors = 1;
};
// The tile that covers rows x columns with the least time in the innermost loop.
[[nodiscard]] RegisterTile BestTile(const KernelTarget& target, std::int64_t rows,
                                    std::int64_t columns);

// ", const float* bias, ..." and ", bias, ...".
[[nodiscard]] std::string ExtraParameters(const std::vector<ExtraParameter>& extra);
[[nodiscard]] std::string ExtraArguments(const std::vector<ExtraParameter>& extra);
// The values that a tunable may take: its default and its neighbours, rising.
[[nodiscard]] std::vector<std::int64_t> TuneValues(std::int64_t otherwise,
                                                   std::vector<std::int64_t> others);
// A line PRAGMA_TUNE(name, value, ...).
[[nodiscard]] std::string TuneLine(std::string_view name, std::int64_t value,
                                   std::vector<std::int64_t> others);
[[nodiscard]] std::string InCapitals(std::string_view name);

}  // namespace pragma::expert
