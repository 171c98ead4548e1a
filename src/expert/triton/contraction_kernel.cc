#include "expert/triton/contraction_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/diagonals.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/structure.h"
#include "expert/plan/contraction.h"
#include "expert/plan/nest.h"
#include "expert/triton/described_operand.h"
#include "expert/triton/kernel_scope.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/packed_product.h"
#include "expert/triton/product_configs.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_index.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

enum : std::size_t { kBatch, kRows, kColumns, kDepth };

class ContractionWriter final {
 public:
  ContractionWriter(const Program& program, const Nest& nest, ProductOptions options,
                    const std::optional<PackedProduct>& packed)
      : program_(program),
        nest_(nest),
        form_(*ContractionOf(nest.steps[0])),
        options_(std::move(options)),
        rows_(Elements(nest.shape, form_.rows)),
        columns_(Elements(nest.shape, form_.columns)),
        depth_(Elements(nest.shape, form_.depth)),
        packed_(packed),
        stored_(options_.precision != "ieee" && Has16Bits(program, form_)),
        configs_(packed ? PackedConfigs(options_.shared_bytes)
                        : ProductConfigs(Size(), FormOfOperands())),
        wide_(NeedsWideIndex(program, nest) || (packed && packed->NeedsWideIndex())),
        described_(Descriptors()),
        names_(NamesFor(program)),
        left_index_(nest.shape, AxesWith("[:, None]", "", "[None, :]")),
        right_index_(nest.shape, AxesWith("", "[None, :]", "[:, None]")),
        out_index_(nest.shape, AxesWith("[:, None]", "[None, :]", "")) {
    if (described_) configs_ = PersistentConfigs(Size());
    for (const char* taken :
         {"m",        "n",      "k",       "batch", "tile",  "tiles_m",    "tiles_n",    "first",
          "in_group", "tile_m", "tile_n",  "total", "part",  "m_inside",   "n_inside",   "k_inside",
          "begin",    "end",    "program", "left",  "right", "left_block", "right_block"})
      (void)names_.New(taken);
  }

  KernelText Write() {
    KernelText kernel;
    const int indent = described_ ? 2 : 1;
    PyLines sum(indent);
    packed_      ? WritePackedSum(sum, kernel)
    : described_ ? WriteDescribedSum(sum)
                 : WriteSum(sum, kernel);
    PyLines epilogue(indent);
    WriteEpilogue(epilogue, kernel);
    PyLines head(indent);
    WriteTile(head);
    PyLines start(1);
    if (described_) WritePersistentStart(start, kernel);
    kernel.body = start.text() + head.text() + sum.text() + epilogue.text();
    kernel.configs = configs_;
    // Measured on an H200 with products and linear layers from 2048 to 8192: the tuner takes the
    // first one too, and its launches cost the host 53 us each.
    kernel.measured = described_.has_value();
    kernel.persistent = described_.has_value();
    kernel.grid = ProductGrid({Batch(), rows_, columns_, depth_});
    kernel.multiplies = true;
    return kernel;
  }

 private:
  [[nodiscard]] ProductSize Size() const {
    return {Batch(), rows_, columns_, depth_, options_.shared_bytes};
  }
  [[nodiscard]] std::int64_t Batch() const { return Elements(nest_.shape, form_.batch); }
  [[nodiscard]] Operands FormOfOperands() const {
    return stored_           ? Operands::kStored
           : form_.left_rest ? Operands::kInParts
                             : Operands::kInRegisters;
  }
  [[nodiscard]] std::vector<TileAxis> AxesWith(const char* rows, const char* columns,
                                               const char* depth) const {
    const auto inside = [&](const char* name, std::int64_t count, const char* block) {
      return count % LargestOf(configs_, block) == 0 ? "" : name;
    };
    return {{"batch", "", form_.batch, ""},
            {"m", rows, form_.rows, inside("m_inside", rows_, "BLOCK_M")},
            {"n", columns, form_.columns, inside("n_inside", columns_, "BLOCK_N")},
            {"k", depth, form_.depth, inside("k_inside", depth_, "BLOCK_K")}};
  }
  // Writes the lines that define the indices of an axis, each once.
  void WriteIndex(std::size_t axis, PyLines& out) {
    std::set<std::string> said;
    for (TileIndex* index : {&left_index_, &right_index_, &out_index_})
      for (const std::string& line : index->Definitions(axis))
        if (said.insert(line).second) out.Line(line);
    if (const std::string line = out_index_.InsideDefinition(axis); !line.empty()) out.Line(line);
  }

  // Returns the operands as tensor descriptors, where they are multiplied as they are stored and
  // every tile sums over the whole depth.
  [[nodiscard]] std::optional<DescribedProduct> Descriptors() const {
    if (!options_.descriptors || !stored_ || wide_ || !Needed().empty()) return std::nullopt;
    return Described(program_, nest_, form_, LargestOf(configs_, "BLOCK_K"));
  }
  void WriteCounts(PyLines& out) const {
    out.Line(fmt::format("tiles_m = tl.cdiv({}, BLOCK_M)", rows_));
    out.Line(fmt::format("tiles_n = tl.cdiv({}, BLOCK_N)", columns_));
  }
  // Each program takes every PROGRAMS-th tile.
  void WritePersistentStart(PyLines& out, KernelText& kernel) const {
    for (const auto& [operand, side, block] : {std::tuple{described_->left, "left", "BLOCK_M"},
                                               std::tuple{described_->right, "right", "BLOCK_N"}}) {
      kernel.buffers.insert(operand.buffer);
      const std::string& source = program_.buffers[static_cast<std::size_t>(operand.buffer)].name;
      out.Line(operand.Definition(side, source, block));
    }
    WriteCounts(out);
    const std::string batches = Batch() > 1 ? fmt::format("{} * ", Batch()) : "";
    out.Line(fmt::format(
        "for program in tl.range(tl.program_id(0), {}tiles_m * tiles_n, PROGRAMS, flatten=True):",
        batches));
  }

  // Takes tiles in groups of rows, so that the data they share are still in the L2 cache.
  void WriteTile(PyLines& out) {
    const std::string program = described_ ? "program"
                                : wide_    ? "tl.program_id(0).to(tl.int64)"
                                           : "tl.program_id(0)";
    if (!described_) WriteCounts(out);
    if (Batch() > 1) {
      out.Line(fmt::format("batch = {} // (tiles_m * tiles_n)", program));
      out.Line(fmt::format("tile = {} % (tiles_m * tiles_n)", program));
      WriteIndex(kBatch, out);
    } else {
      out.Line("tile = " + program);
    }
    out.Line("first = tile // (8 * tiles_n) * 8");
    out.Line("in_group = min(tiles_m - first, 8)");
    out.Line("tile_m = first + tile % (8 * tiles_n) % in_group");
    out.Line("tile_n = tile % (8 * tiles_n) // in_group");
    out.Line("m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)");
    WriteIndex(kRows, out);
    out.Line("n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)");
    WriteIndex(kColumns, out);
  }

  void OpenDepthLoop(PyLines& out) {
    out.Line("total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)");
    const auto [begin, end] = DepthRange(out);
    out.Open(fmt::format("for start in range({}, {}, BLOCK_K):", begin, end));
    if (described_) return;
    out.Line(wide_ ? "k = (start + tl.arange(0, BLOCK_K)).to(tl.int64)"
                   : "k = start + tl.arange(0, BLOCK_K)");
  }

  void WriteSum(PyLines& out, KernelText& kernel) {
    TileValues left(program_, left_index_, names_);
    TileValues right(program_, right_index_, names_);
    PyLines before(1);
    PyLines body(2);
    left.Begin(&before, &body, 1U << kDepth);
    right.Begin(&before, &body, 1U << kDepth);
    const TileText a = stored_ ? left.WriteStored(*form_.left) : left.Write(form_.left);
    const TileText b = stored_ ? right.WriteStored(*form_.right) : right.Write(form_.right);
    const std::string a_rest = form_.left_rest ? left.Write(form_.left_rest).code : "";
    const std::string b_rest = form_.right_rest ? right.Write(form_.right_rest).code : "";
    AddUses(left, kernel);
    AddUses(right, kernel);
    out.Append(before);
    OpenDepthLoop(out);
    WriteIndex(kDepth, out);
    out.Append(body);
    if (form_.left_rest) {
      WriteDotOfParts({a.code, a_rest}, {b.code, b_rest}, out);
    } else {
      const std::string precision =
          stored_ ? "" : fmt::format(", input_precision=\"{}\"", options_.precision);
      out.Line(fmt::format("total = tl.dot({}, {}, total{})", a.code, b.code, precision));
    }
    out.Close();
  }

  // The code of an operand rounded to TF32, and of what that leaves.
  struct Parts {
    std::string high;
    std::string low;
  };
  // Each block has sums in registers of its own, because tensor cores truncate what they add and a
  // long sum would accumulate that error. An infinite factor times a zero remainder is NaN, so NaN
  // is replaced by zero in the small parts; the infinity is counted in the last product.
  static void WriteDotOfParts(const Parts& left, const Parts& right, PyLines& out) {
    const auto dot = [](const std::string& a, const std::string& b, const std::string& sum) {
      return fmt::format("tl.dot({}, {}, {}input_precision=\"tf32\")", a, b, sum);
    };
    out.Line("part = " + dot(left.low, right.high, ""));
    out.Line("part = " + dot(left.high, right.low, "part, "));
    out.Line("part = tl.where(part == part, part, 0.0)");
    out.Line("total += " + dot(left.high, right.high, "part, "));
  }

  void WriteDescribedSum(PyLines& out) {
    OpenDepthLoop(out);
    out.Line("left_block = " + described_->left.Load("left", "tile_m * BLOCK_M", false));
    out.Line("right_block = " + described_->right.Load("right", "tile_n * BLOCK_N", true));
    out.Line("total = tl.dot(left_block, right_block, total)");
    out.Close();
  }

  void WritePackedSum(PyLines& out, KernelText& kernel) {
    OpenDepthLoop(out);
    WritePackedLoads(packed_->left, "left", {"m", "[:, None]", "[None, :]"}, out, kernel);
    WritePackedLoads(packed_->right, "right", {"n", "[None, :]", "[:, None]"}, out, kernel);
    WriteDotOfParts({"left_high", "left_low"}, {"right_high", "right_low"}, out);
    out.Close();
  }
  void WritePackedLoads(const PackedOperand& packed, const std::string& side,
                        const PackedAxes& axes, PyLines& out, KernelText& kernel) const {
    const std::string at = packed.Place(axes);
    for (const auto& [buffer, part] : {std::pair{packed.high, "high"}, {packed.low, "low"}}) {
      kernel.buffers.insert(buffer);
      out.Line(fmt::format("{}_{} = tl.load({} + {})", side, part,
                           program_.buffers[static_cast<std::size_t>(buffer)].name, at));
    }
  }

  // Returns the range of the depth in which any term can differ from zero and is needed.
  std::pair<std::string, std::string> DepthRange(PyLines& out) const {
    std::vector<std::string> low;
    std::vector<std::string> high;
    if (const std::optional<ProductHint>& hint = nest_.steps[0].product) {
      const std::size_t rank = nest_.shape.size();
      // Left factor: low <= k - row <= high. Right factor: low <= column - k <= high.
      if (!hint->left_nonzero.all()) AddBand(hint->left_nonzero, rank - 3, low, high);
      if (!hint->right_nonzero.all())
        AddBand(hint->right_nonzero.Transposed(), rank - 2, low, high);
    }
    const std::string needed = Needed();
    if (low.empty() && high.empty() && needed.empty()) return {"0", std::to_string(depth_)};
    std::string begin = "0";
    for (const std::string& bound : low) begin = fmt::format("max({}, {})", begin, bound);
    std::string end = std::to_string(depth_);
    for (const std::string& bound : high) end = fmt::format("min({}, {})", end, bound);
    out.Line(fmt::format("begin = {} // BLOCK_K * BLOCK_K", begin));
    out.Line("end = " + end);
    if (!needed.empty()) out.Line(fmt::format("end = tl.where({}, end, 0)", needed));
    return {"begin", "end"};
  }
  // Adds the bounds low <= k - i <= high for the rows or columns i of this tile.
  void AddBand(const Diagonals& band, std::size_t dim, std::vector<std::string>& low,
               std::vector<std::string>& high) const {
    const bool row = std::ranges::find(form_.rows, dim) != form_.rows.end();
    const char* tile = row ? "tile_m * BLOCK_M" : "tile_n * BLOCK_N";
    const char* block = row ? "BLOCK_M" : "BLOCK_N";
    if (band.low) low.push_back(fmt::format("{} + {}", tile, *band.low));
    if (band.high) high.push_back(fmt::format("{} + {} + {}", tile, block, *band.high));
  }
  // For a product that is masked to a triangle, returns the condition that a tile reaches into the
  // triangle. Other tiles are not computed.
  [[nodiscard]] std::string Needed() const {
    if (form_.rows.size() != 1 || form_.columns.size() != 1) return "";
    for (std::size_t s = 1; s < nest_.steps.size(); ++s) {
      const std::optional<Triangle> triangle = TriangleOf(
          nest_.steps[s].expr, nest_.steps[s - 1].buffer, form_.rows[0], form_.columns[0]);
      if (!triangle) continue;
      if (triangle->structure == MatmulStructure::kUpperOutput)
        return fmt::format("(tile_n + 1) * BLOCK_N - 1 - tile_m * BLOCK_M >= {}",
                           triangle->diagonal);
      if (triangle->structure == MatmulStructure::kLowerOutput)
        return fmt::format("tile_n * BLOCK_N - ((tile_m + 1) * BLOCK_M - 1) <= {}",
                           triangle->diagonal);
    }
    return "";
  }

  void WriteEpilogue(PyLines& out, KernelText& kernel) {
    TileValues values(program_, out_index_, names_);
    for (const Step& step : nest_.steps) values.CountUses(step.expr);
    values.Begin(&out, &out, 0);
    TileText value{"total", 1U << kRows | 1U << kColumns, ExprType::kFloat};
    for (std::size_t s = 0; s < nest_.steps.size(); ++s) {
      const Step& step = nest_.steps[s];
      values.WriteFor(program_.buffers[static_cast<std::size_t>(step.buffer)].dtype);
      if (s > 0) value = values.Named(step.name, values.Write(step.expr));
      values.Keep(step.buffer, value);
      if (!nest_.forwarded.contains(step.buffer)) values.Store(out, step.buffer, step.place, value);
    }
    AddUses(values, kernel);
  }

  const Program& program_;
  const Nest& nest_;
  Contraction form_;
  ProductOptions options_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t depth_;
  std::optional<PackedProduct> packed_;
  bool stored_;  // the operands are multiplied in the type in which they are stored
  std::vector<Config> configs_;
  bool wide_;
  std::optional<DescribedProduct> described_;
  Names names_;
  TileIndex left_index_;
  TileIndex right_index_;
  TileIndex out_index_;
};

}  // namespace

KernelText ContractionKernel(const Program& program, const Nest& nest, const std::string& name,
                             const ProductOptions& options,
                             const std::optional<PackedProduct>& packed) {
  KernelText kernel = ContractionWriter(program, nest, options, packed).Write();
  kernel.name = name;
  return kernel;
}

}  // namespace pragma::expert::triton
