#include "expert/triton/packed_product.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/contraction.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_scope.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_index.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

// Smallest number of multiplications at which two more launches do not matter (kWorthPacking), and
// smallest number of multiplications per packed element (kReuse). Packing an element costs 12 bytes
// of traffic and saves about 1/30 ns per multiplication.
constexpr std::int64_t kWorthPacking = std::int64_t{1} << 31;
constexpr std::int64_t kReuse = 256;
constexpr std::int64_t kTile = 64;

std::int64_t RoundedUp(std::int64_t count, std::int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

// Returns whether each element of the buffer is packed at most once. A convolution's input would
// grow by the number of its taps.
bool IsReadOnce(const Program& program, const ExprPtr& operand, std::int64_t elements) {
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(operand->load.buffer)];
  return buffer.dtype == DType::kFloat32 && operand->load.bounds.empty() &&
         elements <= Elements(buffer.shape);
}

PackedOperand AddBuffers(Program& program, const ExprPtr& operand,
                         const std::vector<std::size_t>& row_dims, std::int64_t batch,
                         std::int64_t rows, std::int64_t depth) {
  PackedOperand packed;
  packed.operand = operand;
  packed.row_dims = row_dims;
  packed.batch = batch;
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

// Axes of the tiles: batch, rows, depth. An axis has a mask where it was padded.
TileIndex IndexOf(const Nest& nest, const PackedOperand& packed) {
  const Contraction form = *ContractionOf(nest.steps[0]);
  const auto inside = [&](const char* name, const std::vector<std::size_t>& dims,
                          std::int64_t padded) {
    return Elements(nest.shape, dims) == padded ? "" : name;
  };
  return {nest.shape,
          {{"batch", "", form.batch, ""},
           {"m", "[:, None]", packed.row_dims, inside("m_inside", packed.row_dims, packed.rows)},
           {"k", "[None, :]", form.depth, inside("k_inside", form.depth, packed.depth)}}};
}

void WriteTile(const PackedOperand& packed, bool wide, PyLines& out) {
  const std::int64_t tiles_m = packed.rows / kTile;
  const std::int64_t tiles_k = packed.depth / kTile;
  out.Line(fmt::format("tile = tl.program_id(0){}", wide ? ".to(tl.int64)" : ""));
  std::string tile_m = fmt::format("tile // {}", tiles_k);
  if (packed.batch > 1) {
    out.Line(fmt::format("batch = tile // {}", tiles_m * tiles_k));
    tile_m += fmt::format(" % {}", tiles_m);
  }
  out.Line(fmt::format("m = {} * {} + tl.arange(0, {})", tile_m, kTile, kTile));
  out.Line(fmt::format("k = tile % {} * {} + tl.arange(0, {})", tiles_k, kTile, kTile));
}

}  // namespace

std::string PackedOperand::Place(const PackedAxes& axes) const {
  std::string place = batch > 1 ? fmt::format("batch * {} + ", rows * depth) : "";
  return place +
         fmt::format("({} * {}){} + k{}", axes.row, depth, axes.row_suffix, axes.depth_suffix);
}

bool PackedProduct::NeedsWideIndex() const {
  return triton::NeedsWideIndex(left.Count()) || triton::NeedsWideIndex(right.Count());
}

KernelText PackKernel(const Program& program, const Nest& nest, const PackedOperand& packed,
                      const std::string& name) {
  const auto name_of = [&](int buffer) {
    return program.buffers[static_cast<std::size_t>(buffer)].name;
  };
  TileIndex index = IndexOf(nest, packed);
  Names names;
  TileValues values(program, index, names);
  PyLines load(1);
  values.Begin(&load, &load, 0);
  const TileText value = values.Write(packed.operand);

  PyLines out(1);
  WriteTile(packed, NeedsWideIndex(program, nest) || NeedsWideIndex(packed.Count()), out);
  for (std::size_t axis = 0; axis < index.axes().size(); ++axis) index.Define(axis, out);
  out.Append(load);
  out.Line(fmt::format("high = tf32({})", value.code));
  // The rest of a NaN or an infinity is zero.
  out.Line(fmt::format("low = tl.where(high - high == 0.0, {} - high, 0.0)", value.code));
  const std::string at = packed.Place({"m", "[:, None]", "[None, :]"});
  out.Line(fmt::format("tl.store({} + {}, high)", name_of(packed.high), at));
  out.Line(fmt::format("tl.store({} + {}, low)", name_of(packed.low), at));

  KernelText kernel;
  kernel.name = name;
  kernel.comment = fmt::format("{} rounded to TF32 and what is left, by rows of the depth",
                               name_of(packed.operand->load.buffer));
  kernel.body = out.text();
  AddUses(values, kernel);
  kernel.helpers.insert("tf32");
  kernel.buffers.insert({packed.high, packed.low});
  kernel.configs = {{{}, 4, 0}};
  kernel.grid = {{packed.Count() / (kTile * kTile), ""}};
  return kernel;
}

std::optional<PackedProduct> Packed(Program& program, const Nest& nest) {
  const Contraction form = *ContractionOf(nest.steps[0]);
  if (form.left_rest) return std::nullopt;  // they are in two parts already
  const std::int64_t batch = Elements(nest.shape, form.batch);
  const std::int64_t rows = Elements(nest.shape, form.rows);
  const std::int64_t columns = Elements(nest.shape, form.columns);
  const std::int64_t depth = Elements(nest.shape, form.depth);
  if (batch * rows * columns * depth < kWorthPacking) return std::nullopt;
  if (rows * columns / (rows + columns) < kReuse) return std::nullopt;
  if (!IsReadOnce(program, form.left, batch * rows * depth) ||
      !IsReadOnce(program, form.right, batch * columns * depth))
    return std::nullopt;
  const PackedOperand left = AddBuffers(program, form.left, form.rows, batch, rows, depth);
  return PackedProduct{left, AddBuffers(program, form.right, form.columns, batch, columns, depth)};
}

}  // namespace pragma::expert::triton
