#include "expert/triton/attention_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/attention.h"
#include "expert/plan/nest.h"
#include "expert/triton/attention_configs.h"
#include "expert/triton/kernel_scope.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/operators.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_index.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

enum : std::size_t { kBatchAxis, kRowAxis, kKeyAxis };

// A score without the positive factor that all scores have in common. Exponentials of scores then
// take one multiplication instead of two.
struct Unscaled {
  ExprPtr score;
  double factor = 1;
};

Unscaled WithoutFactor(const ExprPtr& score) {
  const bool scaled = score->op == ExprOp::kMultiply && score->args[1]->op == ExprOp::kConstant &&
                      score->args[1]->real > 0;
  return scaled ? Unscaled{score->args[0], score->args[1]->real} : Unscaled{score, 1};
}

// Returns the load with a distance along a dimension of one element, which may have none: its tile
// has several, of which all but one are masked.
ExprPtr WithLine(const ExprPtr& operand, std::size_t dim) {
  AffineForm address = operand->load.address;
  address.factor[dim] = 1;
  return LoadOf(operand->load.buffer, address, operand->type);
}

// Returns the dimensions that are the rows of a block of scores. Heads that share their keys and
// values are rows of one block where each of them has few: the keys and values are then read once.
std::vector<std::size_t> RowDims(const AttentionHint& form) {
  const std::size_t rank = form.shape.size();
  if (rank < 3 || CausalMaskOf(form)) return {rank - 2};
  const auto shares = [&](const ExprPtr& load) { return load->load.address.factor[rank - 3] == 0; };
  const bool few = form.shape[rank - 3] * form.shape[rank - 2] <= kNarrowestBlock;
  if (!few || !shares(form.key) || !shares(form.value)) return {rank - 2};
  return {rank - 3, rank - 2};
}

class AttentionWriter final {
 public:
  AttentionWriter(const Program& program, const Nest& nest, std::int64_t shared_bytes)
      : program_(program),
        nest_(nest),
        form_(*nest.steps[0].attention),
        rank_(form_.shape.size()),
        row_dims_(RowDims(form_)),
        rows_(Elements(form_.shape, row_dims_)),
        keys_(form_.shape[rank_ - 1]),
        columns_(nest.shape.back()),
        batch_(Elements(form_.shape) / (rows_ * keys_)),
        type_(program.buffers[static_cast<std::size_t>(form_.query->load.buffer)].dtype),
        wide_(NeedsWideIndex(program, nest)),
        mask_(CausalMaskOf(form_)),
        plain_(WithoutFactor(mask_ ? mask_->seen : form_.score)),
        shared_bytes_(shared_bytes),
        configs_(AttentionConfigs(Size(), shared_bytes)),
        key_blocks_(IsDescribed()),
        names_(NamesFor(program)) {
    if (IsMeasured()) PutFastestFirst(configs_, mask_.has_value(), form_.depth, keys_);
    if (rows_ == 1 && row_dims_.size() == 1) form_.query = WithLine(form_.query, rank_ - 2);
    if (keys_ == 1) {
      form_.key = WithLine(form_.key, rank_ - 1);
      form_.value = WithLine(form_.value, rank_ - 1);
    }
    for (const char* taken :
         {"m",       "n",        "k",        "c",        "batch",      "tile",        "program",
          "tiles_m", "m_inside", "n_inside", "k_inside", "c_inside",   "product",     "score",
          "largest", "larger",   "weight",   "total",    "result",     "scale",       "whole",
          "seen",    "finite",   "key",      "value",    "key_blocks", "value_blocks"})
      (void)names_.New(taken);
  }

  KernelText Write() {
    PyLines query(1);
    const std::string q = WriteQuery(query);
    PyLines walk(1);
    WriteWalk(q, walk);
    PyLines result(1);
    WriteResult(result);
    PyLines blocks(1);
    if (key_blocks_) WriteBlocks(blocks);
    PyLines head(1);
    WriteTile(head);
    head.Append(blocks);
    kernel_.body = head.text() + query.text() + walk.text() + result.text();
    kernel_.configs = configs_;
    kernel_.measured = IsMeasured();
    if (batch_ > 1) kernel_.grid.push_back({batch_, ""});
    kernel_.grid.push_back({rows_, "BLOCK_M"});
    kernel_.multiplies = kernel_.attends = true;
    return kernel_;
  }

 private:
  [[nodiscard]] AttentionSize Size() const {
    return {.rows = rows_,
            .keys = keys_,
            .head = std::max(form_.depth, columns_),
            .type = type_,
            .multiplications = batch_ * rows_ * keys_ * (form_.depth + columns_)};
  }
  // Returns whether this is an attention as those that were measured (PutFastestFirst).
  [[nodiscard]] bool IsMeasured() const {
    const bool plain =
        plain_.score->op == ExprOp::kLoad && plain_.score->load.buffer == form_.product;
    return plain && DTypeSize(type_) == 2 && std::min(rows_, keys_) >= kFewestMeasured &&
           Size().HeadBytes() <= kLongestMeasuredBytes && shared_bytes_ >= kMeasuredSharedBytes &&
           configs_.size() > 1;
  }
  // Number of elements of the last axis, by the name of its index.
  [[nodiscard]] std::int64_t Count(char last) const { return last == 'k' ? form_.depth : columns_; }
  [[nodiscard]] bool Fills(std::int64_t count, const char* block) const {
    return count % LargestOf(configs_, block) == 0;
  }
  [[nodiscard]] TileAxis BatchAxis() const {
    std::vector<std::size_t> dims(row_dims_.front());
    std::iota(dims.begin(), dims.end(), std::size_t{0});
    return {"batch", "", dims, ""};
  }
  [[nodiscard]] TileAxis RowAxis(const char* suffix) const {
    return {"m", suffix, row_dims_, Fills(rows_, "BLOCK_M") ? "" : "m_inside"};
  }
  // `cut`: the block may reach past the last key.
  [[nodiscard]] TileAxis KeyAxis(const char* suffix, bool cut) const {
    return {"n", suffix, {rank_ - 1}, cut && !Fills(keys_, "BLOCK_N") ? "n_inside" : ""};
  }
  [[nodiscard]] TileAxis LastAxis(char last, const char* suffix, std::size_t dim) const {
    const std::string name(1, last);
    return {name, suffix, {dim}, WideEnough(Count(last)) == Count(last) ? "" : name + "_inside"};
  }
  [[nodiscard]] Shape Shaped(char last) const {
    Shape shape = form_.shape;
    shape.push_back(Count(last));
    return shape;
  }
  // Takes over what a part of the kernel needs from its head.
  void Note(TileIndex& index, const TileValues& values) {
    for (const std::string& line : index.Definitions(kBatchAxis)) batch_lines_.insert(line);
    for (const std::string& line : index.Definitions(kRowAxis)) row_lines_.insert(line);
    AddUses(values, kernel_);
  }

  // Under a causal mask the rows at the end have the most keys. They begin first.
  void WriteTile(PyLines& out) const {
    out.Line(fmt::format("tiles_m = tl.cdiv({}, BLOCK_M)", rows_));
    out.Line(wide_ ? "program = tl.program_id(0).to(tl.int64)" : "program = tl.program_id(0)");
    out.Line(mask_ ? "tile = tiles_m - 1 - program % tiles_m" : "tile = program % tiles_m");
    out.Line("batch = program // tiles_m");
    for (const std::string& line : batch_lines_) out.Line(line);
    out.Line("m = tile * BLOCK_M + tl.arange(0, BLOCK_M)");
    for (const std::string& line : row_lines_) out.Line(line);
    if (!Fills(rows_, "BLOCK_M")) out.Line(fmt::format("m_inside = m < {}", rows_));
    for (const char last : {'k', 'c'}) {
      out.Line(fmt::format("{} = tl.arange(0, {})", last, WideEnough(Count(last))));
      if (WideEnough(Count(last)) != Count(last))
        out.Line(fmt::format("{0}_inside = {0} < {1}", last, Count(last)));
    }
  }

  std::string WriteQuery(PyLines& out) {
    TileIndex index(Shaped('k'), {BatchAxis(), RowAxis("[:, None]"), KeyAxis("", false),
                                  LastAxis('k', "[None, :]", rank_)});
    TileValues values(program_, index, names_);
    values.Begin(&out, &out, 0);
    const std::string name = values.WriteStored(*form_.query).code;
    Note(index, values);
    out.Line("largest = tl.full((BLOCK_M,), -float(\"inf\"), dtype=tl.float32)");
    out.Line("total = tl.zeros((BLOCK_M,), dtype=tl.float32)");
    out.Line(
        fmt::format("result = tl.zeros((BLOCK_M, {}), dtype=tl.float32)", WideEnough(columns_)));
    return name;
  }

  // Walks over the blocks in which every row sees every key, then over the others.
  void WriteWalk(const std::string& query, PyLines& out) {
    const bool cut = mask_ || !Fills(keys_, "BLOCK_N");
    std::string end = std::to_string(keys_);
    std::string whole = end;
    if (mask_) {
      const auto bounded = [&](const std::string& count) {
        const std::string most = fmt::format("min({}, {})", count, keys_);
        return mask_->diagonal < 0 ? fmt::format("max({}, 0)", most) : most;
      };
      whole = bounded(fmt::format("tile * BLOCK_M + {}", mask_->diagonal + 1));
      end = bounded(fmt::format("(tile + 1) * BLOCK_M + {}", mask_->diagonal));
    }
    if (cut) {
      out.Line(fmt::format("whole = {} // BLOCK_N * BLOCK_N", whole));
      out.Line("seen = " + end);
      whole = "whole";
    }
    WriteLoop(query, "0", whole, false, out);
    if (cut) WriteLoop(query, "whole", "seen", true, out);
  }

  void WriteLoop(const std::string& query, const std::string& begin, const std::string& end,
                 bool cut, PyLines& out) {
    PyLines before(1);
    PyLines body(2);
    body.Line(wide_ ? "n = (start + tl.arange(0, BLOCK_N)).to(tl.int64)"
                    : "n = start + tl.arange(0, BLOCK_N)");
    if (cut && !Fills(keys_, "BLOCK_N")) body.Line(fmt::format("n_inside = n < {}", keys_));
    const std::string key = WriteOperand(*form_.key, 'k', cut, before, body);
    const std::string value = WriteOperand(*form_.value, 'c', cut, before, body);
    body.Line(fmt::format("product = tl.dot({}, {}{})", query, key, Precision()));
    const std::string score = WriteScore(cut, before, body);
    WriteUpdate(score, value, body);
    out.Append(before);
    out.Line(fmt::format("for start in range({}, {}, BLOCK_N):", begin, end));
    out.Append(body);
  }

  // Returns whether keys and values are loaded by tensor descriptors: long rows that begin at
  // multiples of 16 bytes. Measured on an H200 with heads of 128: 1.07 times as fast as by
  // pointers; with heads of 64 as fast.
  [[nodiscard]] bool IsDescribed() const {
    const std::int64_t unit = 16 / static_cast<std::int64_t>(DTypeSize(type_));
    const auto fits = [&](const Expr& operand, std::int64_t length) {
      const AffineForm& at = operand.load.address;
      const auto aligned = [unit](std::int64_t factor) { return factor % unit == 0; };
      return at.factor[rank_] == 1 && aligned(at.offset) && WideEnough(length) >= 128 &&
             std::all_of(at.factor.begin(), at.factor.end() - 1, aligned);
    };
    return !wide_ && !mask_ && configs_.size() > 1 && fits(*form_.key, form_.depth) &&
           fits(*form_.value, columns_);
  }
  void WriteBlocks(PyLines& out) {
    for (const auto& [operand, last, name] :
         {std::tuple{form_.key, 'k', "key_blocks"}, std::tuple{form_.value, 'c', "value_blocks"}}) {
      AffineForm first = operand->load.address;
      const std::int64_t stride = first.factor[rank_ - 1];
      std::fill(first.factor.begin() + static_cast<std::ptrdiff_t>(rank_) - 2, first.factor.end(),
                0);
      TileIndex index(Shaped(last),
                      {BatchAxis(), RowAxis(""), KeyAxis("", false), LastAxis(last, "", rank_)});
      const std::string at = index.Text(first).code;
      for (const std::string& line : index.Definitions(kBatchAxis)) batch_lines_.insert(line);
      kernel_.buffers.insert(operand->load.buffer);
      const std::string& source =
          program_.buffers[static_cast<std::size_t>(operand->load.buffer)].name;
      out.Line(fmt::format("{} = tl.make_tensor_descriptor({}{}, [{}, {}], [{}, 1], [BLOCK_N, {}])",
                           name, source, at == "0" ? "" : " + " + at, keys_, Count(last), stride,
                           WideEnough(Count(last))));
    }
  }

  // Writes the load of a block of keys (depth, keys) or of values (keys, columns).
  std::string WriteOperand(const Expr& load, char last, bool cut, PyLines& before, PyLines& body) {
    const bool turned = last == 'k';
    if (key_blocks_) {
      body.Line(turned ? "key = key_blocks.load([start, 0]).T"
                       : "value = value_blocks.load([start, 0])");
      return turned ? "key" : "value";
    }
    TileIndex index(Shaped(last),
                    {BatchAxis(), RowAxis(""), KeyAxis(turned ? "[None, :]" : "[:, None]", cut),
                     LastAxis(last, turned ? "[:, None]" : "[None, :]", rank_)});
    TileValues values(program_, index, names_);
    values.Begin(&before, &body, 1U << kKeyAxis);
    std::string name = values.WriteStored(load).code;
    Note(index, values);
    return name;
  }

  std::string WriteScore(bool cut, PyLines& before, PyLines& body) {
    TileIndex index(form_.shape, {BatchAxis(), RowAxis("[:, None]"), KeyAxis("[None, :]", cut)});
    TileValues values(program_, index, names_);
    ExprPtr score = plain_.score;
    if (cut && mask_) {
      const std::vector<ExprPtr>& args = form_.score->args;
      const auto arm = [&](const ExprPtr& one) { return one == mask_->seen ? plain_.score : one; };
      score = Select(args[0], arm(args[1]), arm(args[2]));
    }
    values.CountUses(score);
    values.Begin(&before, &body, 1U << kKeyAxis);
    values.Keep(form_.product, {"product", 1U << kRowAxis | 1U << kKeyAxis, ExprType::kFloat});
    std::string text = values.Write(score).code;
    Note(index, values);
    if (cut && !Fills(keys_, "BLOCK_N")) {
      body.Line(fmt::format("score = tl.where(n_inside[None, :], {}, -float(\"inf\"))", text));
      return "score";
    }
    if (text == "product") return text;
    body.Line("score = " + text);
    return "score";
  }

  // The largest score is taken away before anything is multiplied: the difference is exact where it
  // matters, however large the scores are.
  void WriteUpdate(const std::string& score, const std::string& value, PyLines& out) const {
    const std::string unit = NumberText(plain_.factor * std::numbers::log2e);
    out.Line(fmt::format("larger = tl.maximum(largest, tl.max({}, 1))", score));
    const std::string base = MayBeEmpty() ? "finite" : "larger";
    if (MayBeEmpty()) out.Line("finite = tl.where(larger == -float(\"inf\"), 0.0, larger)");
    out.Line(fmt::format("weight = tl.exp2(({} - {}[:, None]) * {})", score, base, unit));
    out.Line(fmt::format("scale = tl.exp2((largest - {}) * {})", base, unit));
    out.Line("total = total * scale + tl.sum(weight, 1)");
    const std::string stored =
        type_ == DType::kFloat32 ? "weight" : fmt::format("weight.to(tl.{})", DTypeName(type_));
    out.Line(fmt::format("result = tl.dot({}, {}, result * scale[:, None]{})", stored, value,
                         Precision()));
    out.Line("largest = larger");
  }
  [[nodiscard]] std::string Precision() const {
    return type_ == DType::kFloat32 ? ", input_precision=\"tf32x3\"" : "";
  }
  // Returns whether a row can have only scores of -infinity so far.
  [[nodiscard]] bool MayBeEmpty() const {
    return plain_.score->op != ExprOp::kLoad || plain_.score->load.buffer != form_.product ||
           (mask_ && mask_->diagonal < 0);
  }

  void WriteResult(PyLines& out) {
    TileIndex index(nest_.shape,
                    {BatchAxis(), RowAxis("[:, None]"), LastAxis('c', "[None, :]", rank_ - 1)});
    TileValues values(program_, index, names_);
    const std::string ratio = "result / total[:, None]";
    out.Line(form_.empty_zero && MayBeEmpty()
                 ? fmt::format("result = tl.where(total[:, None] == 0.0, 0.0, {})", ratio)
                 : "result = " + ratio);
    const Step& step = nest_.steps[0];
    values.Store(out, step.buffer, step.place,
                 {"result", 1U << kRowAxis | 1U << kKeyAxis, ExprType::kFloat});
    Note(index, values);
  }

  const Program& program_;
  const Nest& nest_;
  AttentionHint form_;
  std::size_t rank_;
  std::vector<std::size_t> row_dims_;
  std::int64_t rows_;
  std::int64_t keys_;
  std::int64_t columns_;
  std::int64_t batch_;
  DType type_;  // of queries, keys and values
  bool wide_;
  std::optional<CausalMask> mask_;
  Unscaled plain_;
  std::int64_t shared_bytes_;
  std::vector<Config> configs_;
  bool key_blocks_;  // keys and values are loaded by tensor descriptors
  Names names_;
  std::set<std::string> batch_lines_;
  std::set<std::string> row_lines_;
  KernelText kernel_;
};

}  // namespace

KernelText AttentionKernel(const Program& program, const Nest& nest, const std::string& name,
                           std::int64_t shared_bytes) {
  KernelText kernel = AttentionWriter(program, nest, shared_bytes).Write();
  kernel.name = name;
  return kernel;
}

}  // namespace pragma::expert::triton
