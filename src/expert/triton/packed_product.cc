#include "expert/triton/packed_product.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expert/affine.h"
#include "expert/expression.h"
#include "expert/nest.h"
#include "expert/program.h"
#include "expert/triton/contraction.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_kernel.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_index.h"
#include "expert/triton/tile_values.h"

namespace pragma::triton {
namespace {

// Multiplications, from which on two more launches do not matter; and for each element that is
// packed (12 bytes of traffic for what saves some 1/30 ns a multiplication).
constexpr std::int64_t kWorthPacking = std::int64_t{1} << 31;
constexpr std::int64_t kReuse = 256;
constexpr int kTile = 64;

std::int64_t RoundedUp(std::int64_t count, std::int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

// Each element of the buffer at most once: a convolution's input would grow by its taps.
bool IsReadOnce(const Program& program, const ExprPtr& operand, std::int64_t elements) {
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(operand->load.buffer)];
  return buffer.dtype == DType::kFloat32 && operand->load.bounds.empty() &&
         elements <= Elements(buffer.shape);
}

PackedOperand AddBuffers(Program& program, const ExprPtr& operand, std::int64_t batch,
                         std::int64_t rows, std::int64_t depth) {
  PackedOperand packed;
  packed.rows = RoundedUp(rows, kPackedRows);
  packed.depth = RoundedUp(depth, kPackedDepth);
  const std::string of = program.buffers[static_cast<std::size_t>(operand->load.buffer)].name;
  for (const auto& [number, part] : {std::pair{&packed.high, "high"}, {&packed.low, "low"}}) {
    *number = static_cast<int>(program.buffers.size());
    program.buffers.push_back({Buffer::Kind::kScratch,
                               fmt::format("{}_{}", of, part),
                               DType::kFloat32,
                               {batch, packed.rows, packed.depth}});
  }
  return packed;
}

KernelText Pack(const Program& program, const Nest& nest, const ExprPtr& operand,
                const std::vector<std::size_t>& rows, const PackedOperand& packed,
                const std::string& name) {
  const Contraction form = *ContractionOf(nest.steps[0]);
  const std::int64_t batch = Elements(nest.shape, form.batch);
  const bool wide =
      NeedsWideIndex(program, nest) || batch * packed.rows * packed.depth > std::int64_t{INT32_MAX};
  const auto inside = [](const char* variable, std::int64_t count, std::int64_t padded) {
    return count == padded ? "" : variable;
  };
  const std::int64_t depth = Elements(nest.shape, form.depth);
  const std::int64_t count = Elements(nest.shape, rows);
  TileIndex index(nest.shape,
                  {{"batch", "", form.batch, ""},
                   {"m", "[:, None]", rows, inside("m_inside", count, packed.rows)},
                   {"k", "[None, :]", form.depth, inside("k_inside", depth, packed.depth)}});
  Names names;
  TileValues values(program, index, names);
  PyLines load(1);
  values.Begin(&load, &load, 0);
  const TileText value = values.Write(operand);

  PyLines out(1);
  const std::int64_t tiles_k = packed.depth / kTile;
  const std::int64_t tiles = packed.rows / kTile * tiles_k;
  out.Line(fmt::format("tile = tl.program_id(0){}", wide ? ".to(tl.int64)" : ""));
  if (batch > 1) out.Line(fmt::format("batch = tile // {}", tiles));
  out.Line(fmt::format("m = tile // {}{} * {} + tl.arange(0, {})", tiles_k,
                       batch > 1 ? fmt::format(" % {}", packed.rows / kTile) : "", kTile, kTile));
  out.Line(fmt::format("k = tile % {} * {} + tl.arange(0, {})", tiles_k, kTile, kTile));
  for (std::size_t axis = 0; axis < index.axes().size(); ++axis) {
    for (const std::string& line : index.Definitions(axis)) out.Line(line);
    const TileAxis& along = index.axes()[axis];
    if (!along.inside.empty())
      out.Line(fmt::format("{} = {} < {}", along.inside, along.index, index.Count(axis)));
  }
  out.Append(load);
  // To nearest in 10 bits of the mantissa. Numbers that it would carry over the largest keep theirs
  // cut off, and what is no number has no rest.
  out.Line(fmt::format("bits = {}.to(tl.int32, bitcast=True)", value.code));
  out.Line("high = ((bits + 0x1000) & -8192).to(tl.float32, bitcast=True)");
  out.Line("cut = (bits & -8192).to(tl.float32, bitcast=True)");
  out.Line("high = tl.where(high - high == 0.0, high, cut)");
  out.Line(fmt::format("high = tl.where({0} == {0}, high, {0})", value.code));
  out.Line(fmt::format("low = tl.where(high - high == 0.0, {} - high, 0.0)", value.code));
  const std::string at = fmt::format(
      "{}(m * {})[:, None] + k[None, :]",
      batch > 1 ? fmt::format("batch * {} + ", packed.rows * packed.depth) : "", packed.depth);
  for (const auto& [buffer, part] : {std::pair{packed.high, "high"}, {packed.low, "low"}})
    out.Line(fmt::format("tl.store({} + {}, {})",
                         program.buffers[static_cast<std::size_t>(buffer)].name, at, part));

  KernelText kernel;
  kernel.name = name;
  kernel.comment =
      fmt::format("{} rounded to TF32 and what is left, by rows of the depth",
                  program.buffers[static_cast<std::size_t>(operand->load.buffer)].name);
  kernel.body = out.text();
  kernel.buffers = values.buffers();
  kernel.buffers.insert({packed.high, packed.low});
  kernel.configs = {{{}, 4, 0}};
  kernel.grid = {{batch * tiles, ""}};
  return kernel;
}

}  // namespace

std::optional<PackedProduct> Packed(Program& program, const Nest& nest) {
  const Contraction form = *ContractionOf(nest.steps[0]);
  const std::int64_t batch = Elements(nest.shape, form.batch);
  const std::int64_t rows = Elements(nest.shape, form.rows);
  const std::int64_t columns = Elements(nest.shape, form.columns);
  const std::int64_t depth = Elements(nest.shape, form.depth);
  if (batch * rows * columns * depth < kWorthPacking) return std::nullopt;
  if (rows * columns / (rows + columns) < kReuse) return std::nullopt;
  if (!IsReadOnce(program, form.left, batch * rows * depth) ||
      !IsReadOnce(program, form.right, batch * columns * depth))
    return std::nullopt;
  const PackedOperand left = AddBuffers(program, form.left, batch, rows, depth);
  return PackedProduct{left, AddBuffers(program, form.right, batch, columns, depth)};
}

KernelText PackLeft(const Program& program, const Nest& nest, const PackedOperand& packed,
                    const std::string& name) {
  const Contraction form = *ContractionOf(nest.steps[0]);
  return Pack(program, nest, form.left, form.rows, packed, name);
}

KernelText PackRight(const Program& program, const Nest& nest, const PackedOperand& packed,
                     const std::string& name) {
  const Contraction form = *ContractionOf(nest.steps[0]);
  return Pack(program, nest, form.right, form.columns, packed, name);
}

}  // namespace pragma::triton
