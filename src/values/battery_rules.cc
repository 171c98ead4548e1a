#include "values/battery_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "values/batteries.h"
#include "values/comparator.h"
#include "values/conditioning.h"

namespace pragma {
namespace {

// If Torch's own result is further from the truth than this, no kernel can be judged against the
// truth. Far from zero, few digits remain for the spread, and a formula that needs more digits has
// a far larger error.
constexpr double kTellable = 0.05;
constexpr double kTellableFew = 0.5;

// For batteries with a few values that are far larger than the rest. Honest algorithms that mix
// neighbours (Winograd's transforms, sums shifted by one element) carry rounding errors of the
// large values to the small ones. The errors are still far below those of a lower precision (2^-9
// for bf16).
constexpr double kMostOfEqualTerms = 1e-4;
constexpr double kRangeFactor = 30;
constexpr double kMostOfRange = 1e-3;

// An output this small, relative to the task's own outputs, is only what rounding leaves of zero.
constexpr double kNothing = 1e-12;

// A kind of operators and the batteries on which shortcuts for them fail. Operators are listed by
// the beginning of their name after "aten.". A beginning that ends with a dot is the whole name.
struct OperatorKind {
  std::span<const std::string_view> operators;
  std::span<const Battery> batteries;
};

constexpr std::array<std::string_view, 20> kExtremes{
    "amax",    "amin",    "aminmax",  "max.",   "min.",     "argmax",       "argmin",
    "maximum", "minimum", "fmax",     "fmin",   "max_pool", "adaptive_max", "fractional_m",
    "topk",    "sort",    "kthvalue", "median", "cummax",   "cummin"};
constexpr std::array kForExtremes{
    Battery::kNegative,       Battery::kPositive,  Battery::kFarBelow,   Battery::kFarAbove,
    Battery::kExtremelyBelow, Battery::kAscending, Battery::kDescending, Battery::kExtremelyAbove,
    Battery::kValley,         Battery::kZeros,     Battery::kTies,       Battery::kMasked,
    Battery::kMaskedRows,     Battery::kPeriodic,  Battery::kLimitRows,  Battery::kLimitEntries,
    Battery::kConstants};

constexpr std::array<std::string_view, 11> kExponentials{
    "_softmax",  "softmax",       "_log_softmax",       "log_softmax",
    "logsumexp", "logcumsumexp",  "scaled_dot_product", "_scaled_dot_product",
    "logaddexp", "cross_entropy", "_safe_softmax"};
constexpr std::array kForExponentials{
    Battery::kAscending,      Battery::kDescending, Battery::kValley,   Battery::kNegative,
    Battery::kPositive,       Battery::kFarBelow,   Battery::kFarAbove, Battery::kExtremelyBelow,
    Battery::kExtremelyAbove, Battery::kOffset1e3,  Battery::kOutlier,  Battery::kMasked,
    Battery::kMaskedRows};

constexpr std::array<std::string_view, 5> kScans{"cumsum", "cumprod", "cummax", "cummin",
                                                 "logcumsumexp"};
constexpr std::array kForScans{Battery::kAscending,    Battery::kDescending,
                               Battery::kAlternating,  Battery::kOneHot,
                               Battery::kConstantRows, Battery::kPositiveOutlier};

constexpr std::array<std::string_view, 16> kNorms{"native_layer_norm",
                                                  "layer_norm",
                                                  "native_group_norm",
                                                  "group_norm",
                                                  "instance_norm",
                                                  "batch_norm",
                                                  "native_batch_norm",
                                                  "_native_batch_norm",
                                                  "cudnn_batch_norm",
                                                  "rms_norm",
                                                  "_fused_rms_norm",
                                                  "var",
                                                  "std",
                                                  "linalg_vector",
                                                  "norm",
                                                  "cosine_similarity"};
constexpr std::array kForNorms{Battery::kOffset1e3, Battery::kOffset1e5,    Battery::kOffsetRows,
                               Battery::kOutlier,   Battery::kConstantRows, Battery::kTiny,
                               Battery::kConstants};

constexpr std::array<std::string_view, 27> kPiecewise{
    "relu",        "leaky_relu", "prelu",      "_prelu",   "rrelu",       "elu",      "celu",
    "selu",        "clamp",      "clip",       "where",    "masked_fill", "hardtanh", "hardswish",
    "hardsigmoid", "hardshrink", "softshrink", "softplus", "threshold",   "abs",      "sign",
    "gt.",         "ge.",        "lt.",        "le.",      "eq.",         "ne."};
constexpr std::array kForPiecewise{Battery::kNegative, Battery::kPositive, Battery::kFarBelow,
                                   Battery::kFarAbove, Battery::kZeros,    Battery::kConstants};

constexpr std::array<std::string_view, 9> kIndexed{"index",     "gather",   "scatter",
                                                   "embedding", "take",     "_unsafe_index",
                                                   "put",       "nll_loss", "one_hot"};
// Operators where several updates may hit the same place and Torch does not define which one
// counts.
constexpr std::array<std::string_view, 4> kAnyUpdate{"scatter.", "index_copy", "put.",
                                                     "masked_scatter"};
constexpr std::array kForIndexed{Battery::kRepeatedIndices};

constexpr std::array<std::string_view, 2> kMasks{"where", "masked_fill"};
constexpr std::array kForMasks{Battery::kMasked, Battery::kMaskedRows};

constexpr std::array<OperatorKind, 7> kKinds{{{kExtremes, kForExtremes},
                                              {kExponentials, kForExponentials},
                                              {kScans, kForScans},
                                              {kNorms, kForNorms},
                                              {kPiecewise, kForPiecewise},
                                              {kIndexed, kForIndexed},
                                              {kMasks, kForMasks}}};

// Operators that multiply and add. Winograd's inner product (1968) adds an element of one factor to
// an element of the other before it multiplies. Its terms are several times larger than the
// products, and so are their errors.
constexpr std::array<std::string_view, 8> kProducts{"mm.",    "bmm",    "addmm",  "baddbmm",
                                                    "matmul", "linear", "einsum", "conv"};

// Operators whose indices may point to any of several equal elements. Those of argmax and argmin
// point to the first.
constexpr std::array<std::string_view, 13> kIndices{
    "max.dim", "min.dim", "topk",      "sort",   "argsort",  "kthvalue",    "median",
    "mode.",   "cummax",  "nanmedian", "cummin", "max_pool", "adaptive_max"};

// Operators for which each element of the result is a function of one element of each operand. Sums
// of two elements are among them: their errors show up when their operands are changed.
constexpr std::string_view kPointwise[] = {
    "add.",  "sub.",     "mul.",   "div.",      "neg.",     "exp.",   "exp2.",    "expm1.",
    "log.",  "log1p.",   "log2.",  "sqrt.",     "rsqrt.",   "pow.",   "square.",  "sigmoid.",
    "tanh.", "gelu.",    "silu.",  "mish.",     "softplus", "erf.",   "reciproc", "relu.",
    "abs.",  "hardswis", "elu.",   "log_sigm",  "view.",    "clone.", "_to_copy", "reshape.",
    "sin.",  "cos.",     "where.", "leaky_rel", "detach."};

constexpr std::string_view kAten = "aten.";

// True if a node is one of these operators.
bool IsOf(const GraphNode& node, std::span<const std::string_view> operators) {
  if (!node.op.starts_with(kAten)) return false;
  const std::string_view name = std::string_view(node.op).substr(kAten.size());
  return std::ranges::any_of(operators,
                             [&](std::string_view start) { return name.starts_with(start); });
}

bool Has(const Task& task, std::span<const std::string_view> operators) {
  return std::ranges::any_of(task.graph,
                             [&](const GraphNode& node) { return IsOf(node, operators); });
}

// Returns whether a node reads the places that an operator found among equal elements: the second
// result of those that give two, or the only one of argsort.
bool UsesPlaces(const Task& task) {
  std::set<std::string_view> finds;
  for (const GraphNode& node : task.graph) {
    if (IsOf(node, kIndices)) finds.insert(node.name);
    if (node.op.starts_with("aten.argsort")) return true;
    const bool second = node.op == "getitem" && node.args.size() > 1 && node.args[1].integer == 1;
    if (second && finds.contains(node.args[0].text)) return true;
  }
  return false;
}

// The arguments are index_put(self, indices, values, accumulate). Only with accumulate is it
// defined what becomes of several updates of one place.
bool AssignsInPlaces(const Task& task) {
  return std::ranges::any_of(task.graph, [](const GraphNode& node) {
    if (!node.op.starts_with("aten.index_put")) return false;
    constexpr std::size_t kAccumulate = 3;
    return node.args.size() <= kAccumulate || node.args[kAccumulate].integer == 0;
  });
}

// Operators that only move data. A task of comparisons and moves has no sum or difference of two
// large numbers that may overflow.
constexpr std::array<std::string_view, 16> kMoves{
    "view",  "_unsafe_view", "reshape",   "clone",   "detach", "permute", "transpose", "t.",
    "alias", "contiguous",   "unsqueeze", "squeeze", "expand", "slice",   "select",    "lift"};

bool OnlyCompares(const Task& task) {
  return !task.graph.empty() && std::ranges::all_of(task.graph, [](const GraphNode& node) {
    return !node.op.starts_with(kAten) || IsOf(node, kExtremes) || IsOf(node, kMoves);
  });
}

bool Contains(std::span<const Battery> batteries, Battery battery) {
  return std::ranges::find(batteries, battery) != batteries.end();
}

// True for batteries with the type's limits.
bool IsLimit(Battery battery) {
  return battery == Battery::kLimitRows || battery == Battery::kLimitEntries;
}

// Returns the error beyond which Torch's own result is no longer a usable measure.
double Tellable(DType dtype, Battery battery) {
  const bool few = dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
                   battery == Battery::kOffset1e3 || battery == Battery::kOffset1e5 ||
                   battery == Battery::kOffsetRows;
  return few ? kTellableFew : kTellable;
}

// True for batteries whose outputs are small because their inputs are small or mostly zero.
bool IsSmallOrSparse(Battery battery) {
  switch (battery) {
    case Battery::kTiny:
    case Battery::kDenormals:
    case Battery::kZeros:
    case Battery::kOneHot:
    case Battery::kLastOnly: return true;
    default: return false;
  }
}

Tolerance ForRange(const Tolerance& tolerance, double peak_over_rms) {
  Tolerance wide = tolerance;
  wide.rel_l2 = std::max(tolerance.rel_l2, std::min(tolerance.rel_l2 * kRangeFactor, kMostOfRange));
  wide.rel = std::max(tolerance.rel, std::min(tolerance.rel * kRangeFactor, kMostOfRange)) *
             std::max(peak_over_rms, 1.0);
  return wide;
}

}  // namespace

std::vector<Battery> RequiredBatteries(const Task& task) {
  if (task.graph.empty()) return {kAllBatteries.begin(), kAllBatteries.end()};
  std::vector<Battery> required{Battery::kSigned};
  for (const OperatorKind& kind : kKinds) {
    if (!Has(task, kind.operators)) continue;
    for (const Battery battery : kind.batteries) {
      if (!Contains(required, battery)) required.push_back(battery);
    }
  }
  return required;
}

bool OnlyNoted(const Task& task, Battery battery) {
  if (battery == Battery::kInfinities || battery == Battery::kNan) return true;
  if (!MayBeNonFinite(battery)) return false;
  return task.graph.empty() || !Contains(RequiredBatteries(task), battery);
}

std::string ComplaintOf(const TensorSpec& spec, Battery battery, const TorchStanding& torch) {
  if (!torch.finite && !MayBeNonFinite(battery)) return "the reference is not finite";
  const bool masked = battery == Battery::kMasked || battery == Battery::kMaskedRows;
  if (masked && !torch.finite_somewhere) return "the reference is finite nowhere";
  const bool tellable = torch.tolerance.rel <= Tellable(spec.dtype, battery) && torch.fits;
  return tellable ? "" : "Torch's own result is too far from the truth";
}

Tolerance BatteryTolerance(const Task& task, Battery battery, const TorchStanding& torch) {
  Tolerance tolerance =
      SpansRange(battery) ? ForRange(torch.tolerance, torch.peak_over_rms) : torch.tolerance;
  // The results of a scan are infinite up to the first element that is not masked.
  const bool scanned = battery == Battery::kMasked && Has(task, kScans);
  tolerance.where_finite = MayBeNonFinite(battery) && !scanned;
  const bool nothing = torch.rms <= kNothing * torch.nominal_rms;
  if (nothing && !IsSmallOrSparse(battery)) tolerance.absolute = tolerance.rel * torch.nominal_rms;
  return tolerance;
}

bool AddsUp(const Task& task) {
  return task.graph.empty() || std::ranges::any_of(task.graph, [](const GraphNode& node) {
           return node.op.starts_with(kAten) && !IsOf(node, kPointwise);
         });
}

bool MixesSizes(Battery battery) {
  return SpansRange(battery) || ShowsMissingTerms(battery) || battery == Battery::kOffset1e3 ||
         battery == Battery::kOffset1e5 || battery == Battery::kOffsetRows;
}

bool SpansRange(Battery battery) {
  switch (battery) {
    case Battery::kWide:
    case Battery::kHeavyTails:
    case Battery::kExtremelyBelow:
    case Battery::kExtremelyAbove:
    case Battery::kLimitRows:
    case Battery::kLimitEntries:
    case Battery::kConstants:
    case Battery::kPeriodic:
    case Battery::kOutlier: return true;
    default: return false;
  }
}

bool OnlyWhereNeeded(Battery battery) {
  return IsLimit(battery) || battery == Battery::kPositiveOutlier;
}

std::span<const double> RungsFor(const Task& task, Battery battery) {
  // Values go up to ten thousand times the rung, and their squares must add up in single precision.
  constexpr double kSquaresFit = 1e9;
  const std::span<const double> rungs = BatteryRungs(battery);
  const bool extreme = battery == Battery::kExtremelyBelow || battery == Battery::kExtremelyAbove;
  if (!extreme || !Has(task, kNorms)) return rungs;
  const auto first = std::ranges::find_if(rungs, [](double rung) { return rung <= kSquaresFit; });
  return {first, rungs.end()};
}

std::vector<double> ConstantsOf(const Task& task) {
  std::set<double> numbers;
  const auto add = [&](const auto& self, const ScalarValue& value) -> void {
    if (value.kind == ScalarValue::Kind::kFloat) numbers.insert(value.real);
    if (value.kind == ScalarValue::Kind::kInt) numbers.insert(static_cast<double>(value.integer));
    for (const ScalarValue& item : value.items) self(self, item);
  };
  for (const GraphNode& node : task.graph) {
    for (const ScalarValue& value : node.args) add(add, value);
    for (const NamedValue& value : node.kwargs) add(add, value.value);
  }
  std::erase_if(numbers, [](double number) { return number == 0 || !std::isfinite(number); });
  return {numbers.begin(), numbers.end()};
}

int ConstantParts(const Task& task, std::size_t of_kernel) {
  constexpr std::int64_t kWays = 5;
  constexpr std::int64_t kMostParts = 6;
  std::int64_t rows = 1;
  for (const TensorSpec& tensor : task.arguments) {
    if (tensor.role != TensorRole::kInput || !IsFloating(tensor.dtype) || tensor.shape.empty())
      continue;
    if (tensor.shape.back() > 0)
      rows = std::max(rows, static_cast<std::int64_t>(tensor.elements()) / tensor.shape.back());
  }
  const auto constants = static_cast<std::int64_t>(ConstantsOf(task).size() + of_kernel);
  return static_cast<int>(
      std::clamp((kWays * constants + rows - 1) / rows, std::int64_t{1}, kMostParts));
}

std::string LeftOut(const Task& task, Battery battery) {
  if (MakesTies(battery) && !TiesAreDecided(task))
    return "which of equal elements an index means is not defined";
  // Infinities are equal to each other, and no small change parts them.
  if (battery == Battery::kMaskedRows && UsesPlaces(task))
    return "which of the masked elements are chosen is not defined";
  if (IsLimit(battery) && !OnlyCompares(task)) return "its values may overflow";
  if (battery == Battery::kPositiveOutlier && !Has(task, kScans))
    return "kernels that mix neighbours may lose the others";
  if (battery != Battery::kRepeatedIndices) return {};
  const bool integers = std::ranges::any_of(task.arguments, [](const TensorSpec& tensor) {
    return tensor.role == TensorRole::kInput && !IsFloating(tensor.dtype);
  });
  if (!integers) return "no input holds integers";
  if (task.graph.empty() || Has(task, kAnyUpdate) || AssignsInPlaces(task))
    return "which of several updates of a place counts is not defined";
  return {};
}

bool TiesAreDecided(const Task& task) {
  const bool floating = std::ranges::all_of(
      task.outputs, [](const TensorSpec& output) { return IsFloating(output.dtype); });
  return floating || !ChoosesAmongEquals(task);
}

bool ChoosesAmongEquals(const Task& task) { return Has(task, kIndices); }

bool MayBeJumps(const Task& task, const Comparison& compared) {
  return compared.error.rel_l2 <= kJumpsAreFew || ChoosesAmongEquals(task);
}

double RoundingSize(const Task& task, TermsOf terms) {
  const auto length = static_cast<double>(std::max<std::int64_t>(task.reduction_length, 1));
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  double sums = kEpsilon / 2 * std::sqrt(length);
  if (terms == TermsOf::kEqualValues) {
    const double share = Has(task, kProducts) ? kEpsilon : kEpsilon / 4;
    sums = std::max(sums, std::min(share * length, kMostOfEqualTerms));
  }
  // Torch rounds intermediate results between two operators to the task's type.
  double type = 0;
  for (const TensorSpec& output : task.outputs) {
    if (output.dtype == DType::kBFloat16) type = std::max(type, 0x1.0p-9);
    if (output.dtype == DType::kFloat16) type = std::max(type, 0x1.0p-12);
  }
  return std::max(sums, type);
}

}  // namespace pragma
