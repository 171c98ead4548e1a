#include "expert/plan/attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/structure.h"
#include "expert/plan/lanes.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kFewestRows = 4;  // fewer rows do not repay packing keys and values
// Or this many rows in all batches, where nothing is packed: each is the work of one program, and
// that many fill a GPU.
constexpr std::int64_t kFewestSums = 256;

bool IsNumber(const ExprPtr& expr, double value) {
  return expr->op == ExprOp::kConstant && expr->type == ExprType::kFloat && expr->real == value;
}

bool IsQuotient(const Expr& expr) {
  return expr.op == ExprOp::kDivide || expr.op == ExprOp::kDivideExactly;
}

// Matches one attention pattern in a program, starting from its end. Every form is expressed over
// the same [batch..., row, key]. Each step must read exactly the element that another step wrote
// there.
class Matcher final {
 public:
  Matcher(const Program& program, std::size_t last, const AttentionPolicy& policy)
      : program_(program), last_(last), policy_(policy) {}

  [[nodiscard]] std::optional<AttentionHint> Match() {
    const Step& last = program_.steps[last_];
    if (!last.product || !FindShape(last) || !MatchWeights() || !MatchScores()) return std::nullopt;
    hint_.value = Loaded(last.product->right, last.shape, Wide(Columns(last)));
    const std::optional<AffineForm> place = Over(last.place, last.shape, Wide(Columns(last)));
    if (!hint_.value || !place) return std::nullopt;
    const auto bytes = static_cast<std::int64_t>(DTypeSize(TypeOf(hint_.key->load.buffer)));
    if (std::max(hint_.depth, Columns(last)) * bytes > policy_.longest_head_bytes)
      return std::nullopt;
    if (!policy_.vectors) return OneType() && AreMatrices() ? std::optional(hint_) : std::nullopt;
    if (Columns(last) > 1 && place->factor.back() != 1) return std::nullopt;
    return AllFloat() && HasText() ? std::optional(hint_) : std::nullopt;
  }
  // Returns the steps that the fused step replaces.
  [[nodiscard]] const std::set<std::size_t>& replaced() const { return replaced_; }

 private:
  static std::size_t Rank(const Step& step) { return step.shape.size(); }
  static std::int64_t Columns(const Step& step) { return step.shape[Rank(step) - 2]; }
  [[nodiscard]] std::int64_t Rows() const { return hint_.shape[hint_.shape.size() - 2]; }
  [[nodiscard]] std::int64_t Keys() const { return hint_.shape.back(); }
  // Returns the shape [batch..., row, last, key], in the order of a product's own dimensions.
  [[nodiscard]] Shape Wide(std::int64_t last) const {
    Shape shape = hint_.shape;
    shape.insert(shape.end() - 1, last);
    return shape;
  }

  bool FindShape(const Step& last) {
    const std::size_t rank = Rank(last);
    const std::int64_t rows = last.shape[rank - 3];
    const std::int64_t keys = last.shape[rank - 1];
    if (policy_.one_batch) {
      hint_.shape = {Elements(last.shape) / (rows * Columns(last) * keys)};
    } else {
      hint_.shape.assign(last.shape.begin(), last.shape.end() - 3);
    }
    hint_.shape.insert(hint_.shape.end(), {rows, keys});
    const bool enough = policy_.vectors
                            ? rows >= kFewestRows
                            : rows >= kFewestRows || Elements(hint_.shape) / keys >= kFewestSums;
    return enough && keys > 1 && IsPlainLoad(*last.product->left);
  }

  // Returns the form of a product's operand over `to` = [batch..., row, last, key], with the last
  // two dimensions exchanged.
  static std::optional<AffineForm> Over(const AffineForm& form, const Shape& from,
                                        const Shape& to) {
    std::optional<AffineForm> result = Reshape(form, from, to);
    if (result) std::swap(result->factor[to.size() - 2], result->factor[to.size() - 1]);
    return result;
  }
  static ExprPtr Loaded(const ExprPtr& load, const Shape& from, const Shape& to) {
    if (!IsPlainLoad(*load)) return nullptr;
    return WithForms(load, [&](const AffineForm& form) { return Over(form, from, to); });
  }

  // Returns whether values of this type may stay in fp32 instead.
  [[nodiscard]] bool MayBeKept(DType dtype) const {
    return policy_.vectors ? dtype == DType::kFloat32 : ComputeType(dtype) == ExprType::kFloat;
  }

  // Returns the only step that writes a scratch buffer. Returns nullopt unless exactly `readers`
  // steps read that buffer.
  [[nodiscard]] std::optional<std::size_t> WriterOf(int buffer, int readers) const {
    std::optional<std::size_t> writer;
    const Buffer& kept = program_.buffers[static_cast<std::size_t>(buffer)];
    if (kept.kind != Buffer::Kind::kScratch || !MayBeKept(kept.dtype)) return std::nullopt;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      readers -= Loads(program_.steps[s].expr, buffer) ? 1 : 0;
      if (program_.steps[s].buffer != buffer) continue;
      if (writer) return std::nullopt;
      writer = s;
    }
    return readers == 0 ? writer : std::nullopt;
  }

  // The step that wrote the elements that `load` (over [batch, row, key]) reads one by one, and its
  // expression over the same shape.
  struct Source {
    const Step* step = nullptr;
    ExprPtr expr;
  };
  std::optional<Source> SourceOf(const Expr& load, int readers) {
    if (!IsPlainLoad(load)) return std::nullopt;
    const std::optional<std::size_t> writer = WriterOf(load.load.buffer, readers);
    if (!writer || *writer >= last_) return std::nullopt;
    const Step& step = program_.steps[*writer];
    if (Elements(step.shape) != Elements(hint_.shape)) return std::nullopt;
    const auto over = [&](const AffineForm& form) {
      return Reshape(form, step.shape, hint_.shape);
    };
    const std::optional<AffineForm> place = over(step.place);
    const ExprPtr expr = WithForms(step.expr, over);
    if (!place || !expr || *place != load.load.address) return std::nullopt;
    replaced_.insert(*writer);
    return Source{&step, expr};
  }
  static bool FoldsKeys(const Step& step, Fold fold, std::int64_t keys) {
    return step.kind == Step::Kind::kFold && step.fold == fold && step.shape.back() == keys &&
           step.folded.back() && std::ranges::count(step.folded, true) == 1;
  }

  // Matches weights = exponentials / their sum.
  bool MatchWeights() {
    const Step& last = program_.steps[last_];
    const Shape wide = Wide(Columns(last));
    const std::optional<AffineForm> read = Over(last.product->left->load.address, last.shape, wide);
    if (!read || read->factor.back() != 0) return false;
    AffineForm address = *read;
    address.factor.pop_back();
    const ExprPtr load = LoadOf(last.product->left->load.buffer, address, ExprType::kFloat);
    const std::optional<Source> weights = SourceOf(*load, 1);
    if (!weights || weights->step->kind != Step::Kind::kMap) return false;
    ExprPtr ratio = weights->expr;
    // For rows that contain only -infinity, the weights may be selected as zero where the sum is
    // zero.
    if (ratio->op == ExprOp::kSelect && ratio->args[0]->op == ExprOp::kEqual &&
        IsNumber(ratio->args[0]->args[1], 0) && IsNumber(ratio->args[1], 0)) {
      hint_.empty_zero = true;
      ratio = ratio->args[2];
    }
    if (!IsQuotient(*ratio) && ratio->op != ExprOp::kMultiply) return false;
    ExprPtr sum = ratio->args[1];
    if (ratio->op == ExprOp::kMultiply) {
      if (!IsQuotient(*sum) || !IsNumber(sum->args[0], 1)) return false;
      sum = sum->args[1];
    }
    exponential_ = ratio->args[0];
    const std::optional<Source> total = SourceOf(*sum, 1);
    return total && FoldsKeys(*total->step, Fold::kSum, Keys()) &&
           SameExpression(total->expr, exponential_);
  }

  // Matches exponentials = exp(score - maximum of its row).
  bool MatchScores() {
    const std::optional<Source> power = SourceOf(*exponential_, 2);
    if (!power || power->step->kind != Step::Kind::kMap || !IsExponential(power->expr->op) ||
        power->expr->args[0]->op != ExprOp::kSubtract)
      return false;
    const std::vector<ExprPtr>& distance = power->expr->args[0]->args;
    ExprPtr largest = distance[1];
    // A maximum of -infinity may be replaced by zero before the subtraction.
    if (largest->op == ExprOp::kSelect && largest->args[0]->op == ExprOp::kEqual &&
        IsNumber(largest->args[0]->args[1], -INFINITY) && IsNumber(largest->args[1], 0))
      largest = largest->args[2];
    const std::optional<Source> fold = SourceOf(*largest, 1);
    if (!fold || !FoldsKeys(*fold->step, Fold::kMax, Keys()) ||
        !SameExpression(fold->expr, distance[0]))
      return false;
    hint_.score = distance[0];
    while (IsPlainLoad(*hint_.score)) {
      if (MatchProduct(*hint_.score)) return true;
      const std::optional<Source> stored = SourceOf(*hint_.score, readers_);
      if (!stored || stored->step->kind != Step::Kind::kMap) return false;
      hint_.score = stored->expr;
      readers_ = 1;
    }
    std::set<int> buffers;
    VisitLoads(hint_.score, [&](const Load& load, ExprType) { buffers.insert(load.buffer); });
    return std::ranges::any_of(buffers, [&](int buffer) { return MatchProductIn(buffer); });
  }

  // Returns whether all loads of the score from this buffer read the product's element.
  bool MatchProductIn(int buffer) {
    std::optional<AffineForm> address;
    bool same = true;
    VisitLoads(hint_.score, [&](const Load& load, ExprType) {
      if (load.buffer != buffer) return;
      same = same && load.bounds.empty() && load.indirect.empty() &&
             (!address || *address == load.address);
      address = load.address;
    });
    return same && address && MatchProduct(*LoadOf(buffer, *address, ExprType::kFloat));
  }

  bool MatchProduct(const Expr& load) {
    const std::optional<std::size_t> writer = WriterOf(load.load.buffer, readers_);
    if (!writer || *writer >= last_ || !program_.steps[*writer].product) return false;
    const Step& step = program_.steps[*writer];
    const std::size_t rank = Rank(step);
    if (Elements(step.shape) != Elements(hint_.shape) * step.shape.back() ||
        step.shape[rank - 3] != Rows() || step.shape[rank - 2] != Keys())
      return false;
    hint_.depth = step.shape.back();
    Shape wide = hint_.shape;
    wide.push_back(hint_.depth);
    const auto over = [&](const AffineForm& form) { return Reshape(form, step.shape, wide); };
    std::optional<AffineForm> place = over(step.place);
    if (!place || !IsPlainLoad(*step.product->left) || !IsPlainLoad(*step.product->right))
      return false;
    place->factor.pop_back();
    hint_.query = WithForms(step.product->left, over);
    hint_.key = WithForms(step.product->right, over);
    hint_.product = load.load.buffer;
    if (*place != load.load.address || !hint_.query || !hint_.key) return false;
    replaced_.insert(*writer);
    return true;
  }

  [[nodiscard]] DType TypeOf(int buffer) const {
    return program_.buffers[static_cast<std::size_t>(buffer)].dtype;
  }
  // Returns whether queries, keys and values have one type, so that tensor cores can multiply them.
  [[nodiscard]] bool OneType() const {
    const DType type = TypeOf(hint_.query->load.buffer);
    return ComputeType(type) == ExprType::kFloat && TypeOf(hint_.key->load.buffer) == type &&
           TypeOf(hint_.value->load.buffer) == type;
  }
  // Returns whether queries, keys and values are matrices, not one row or column again and again.
  [[nodiscard]] bool AreMatrices() const {
    const std::size_t last = hint_.shape.size();
    const auto varies = [&](const ExprPtr& operand, std::size_t dim) {
      const std::vector<std::int64_t>& factor = operand->load.address.factor;
      return (hint_.shape[dim] == 1 || factor[dim] != 0) && factor[last] != 0;
    };
    return varies(hint_.query, last - 2) && varies(hint_.key, last - 1) &&
           varies(hint_.value, last - 1);
  }
  [[nodiscard]] bool AllFloat() const {
    const auto is_float = [&](int buffer) { return TypeOf(buffer) == DType::kFloat32; };
    return is_float(hint_.query->load.buffer) && is_float(hint_.key->load.buffer) &&
           is_float(hint_.value->load.buffer) && is_float(program_.steps[last_].buffer);
  }
  // Returns whether scores have a vector form along the keys.
  [[nodiscard]] bool HasText() const {
    Nest nest;
    nest.shape = hint_.shape;
    Step step = program_.steps[last_];
    step.kind = Step::Kind::kMap;
    step.expr = hint_.score;
    return HasVectorForm(program_, step, nest, 2);
  }

  const Program& program_;
  std::size_t last_;
  AttentionPolicy policy_;
  AttentionHint hint_;
  ExprPtr exponential_;
  int readers_ = 2;  // number of steps that read the scores: the maximum and the exponentials
  std::set<std::size_t> replaced_;
};

// Returns an expression that loads all buffers of the attention, for code that asks which buffers
// the step needs.
ExprPtr AllLoads(const AttentionHint& hint, std::size_t rank) {
  std::set<int> buffers;
  for (const ExprPtr& part : {hint.query, hint.key, hint.value, hint.score})
    VisitLoads(part, [&](const Load& load, ExprType) {
      if (load.buffer != hint.product) buffers.insert(load.buffer);
    });
  ExprPtr all = Constant(0, ExprType::kFloat);
  for (const int buffer : buffers)
    all = Make(ExprOp::kAdd, {all, LoadOf(buffer, ZeroForm(rank), ExprType::kFloat)});
  return all;
}

}  // namespace

void FuseAttention(Program& program, const AttentionPolicy& policy) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    Matcher matcher(program, s, policy);
    std::optional<AttentionHint> hint = matcher.Match();
    if (!hint) continue;
    Step& last = program.steps[s];
    last.expr = AllLoads(*hint, last.shape.size());
    last.product.reset();
    last.attention = std::move(hint);
    std::size_t gone = 0;
    for (const std::size_t other : matcher.replaced())
      program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(other - gone++));
    s -= gone;
  }
}

std::optional<CausalMask> CausalMaskOf(const AttentionHint& form) {
  const std::size_t rank = form.shape.size();
  const std::optional<Triangle> triangle = TriangleOf(form.score, form.product, rank - 2, rank - 1);
  if (!triangle || triangle->structure != MatmulStructure::kLowerOutput) return std::nullopt;
  const std::vector<ExprPtr>& args = form.score->args;
  const auto nothing = [](const ExprPtr& arm) {
    return arm->op == ExprOp::kConstant && arm->real == -INFINITY;
  };
  if (!nothing(args[1]) && !nothing(args[2])) return std::nullopt;
  return CausalMask{triangle->diagonal, nothing(args[1]) ? args[2] : args[1]};
}

}  // namespace pragma::expert
