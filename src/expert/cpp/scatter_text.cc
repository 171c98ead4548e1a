#include "expert/cpp/scatter_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"

namespace pragma::expert {
namespace {

// Writes the loops of a scatter. Threads share out a dimension along which no two values go to one
// element: the outermost, or else the innermost.
class ScatterWriter final {
 public:
  ScatterWriter(const Program& program, const Nest& nest, const KernelTarget& target, Needs& needs)
      : program_(program), nest_(WithInnerLoop(nest)), target_(target), needs_(needs) {}

  void Write(Writer& out) {
    const Step& step = nest_.steps[0];
    const std::size_t rank = nest_.shape.size();
    std::vector<std::string> loops;
    for (std::size_t d = 0; d < rank; ++d) loops.push_back(fmt::format("i{}", d));
    ExpressionWriter values(program_, nest_, loops, needs_);
    for (const std::string& loop : loops) values.Reserve(loop);
    for (const std::string_view name : {"there", "value", "part", "from", "to"})
      values.Reserve(name);
    const bool outer = rank > 1 && MayShare(0, target_.threads);
    const bool inner =
        !outer && !nest_.steps[0].routine->overlaps && MayShare(rank - 1, kRun * target_.threads);
    if (outer) out.Line(ParallelFor(target_.threads));
    if (inner) OpenShares(out);
    for (std::size_t d = 0; d + 1 < rank; ++d)
      out.Line(
          fmt::format("for (std::int64_t {0} = 0; {0} < {1}; ++{0}) {{", loops[d], nest_.shape[d]));
    Writer before(out.depth());
    Writer body(out.depth() + 1);
    values.BeginPass(&before, &body);
    values.CountUses(step.expr);
    Combine(values, body);
    out.Append(before);
    out.Line(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", loops.back(),
                         inner ? "from" : "0", inner ? "to" : std::to_string(nest_.shape.back())));
    out.Append(body);
    for (std::size_t d = 0; d < rank; ++d) out.Line("}");
    if (inner) out.Line("}");
  }

 private:
  static constexpr std::int64_t kRun = 16;  // elements that are worth a thread's part of a loop

  static Nest WithInnerLoop(Nest nest) {
    nest.lane = -1;
    nest.inner.back() = true;
    return nest;
  }
  [[nodiscard]] const Load& Target() const { return nest_.steps[0].expr->args[1]->load; }
  [[nodiscard]] bool MayShare(std::size_t dimension, std::int64_t least) const {
    return target_.threads > 1 && nest_.shape[dimension] >= least &&
           Target().address.factor[dimension] != 0;
  }
  static std::string ParallelFor(int threads) {
    return fmt::format("#pragma omp parallel for schedule(static) num_threads({})", threads);
  }
  void OpenShares(Writer& out) const {
    out.Line(ParallelFor(target_.threads));
    out.Line(fmt::format("for (std::int64_t part = 0; part < {}; ++part) {{", target_.threads));
    out.Line(fmt::format("const std::int64_t from = part * {} / {};", nest_.shape.back(),
                         target_.threads));
    out.Line(fmt::format("const std::int64_t to = (part + 1) * {} / {};", nest_.shape.back(),
                         target_.threads));
  }
  void Combine(ExpressionWriter& values, Writer& body) {
    const Step& step = nest_.steps[0];
    const Text value = values.Write(step.expr->args[0]);
    const Buffer& into = BufferOf(program_, step.buffer);
    std::string at = values.Place(step.buffer, Target().address);
    for (const Indirect& part : Target().indirect)
      at += fmt::format(" + {} * {}", values.Write(part.index).code, part.stride);
    const std::string type(DTypeCppName(into.dtype));
    body.Line(fmt::format("{}* const there = {};", type, at));
    body.Line(fmt::format("const {} value = {};", ExpressionWriter::TypeName(value), value.code));
    body.Line(Combined(type, *step.routine));
  }
  static std::string Combined(const std::string& type, const Routine& routine) {
    if (!routine.combine) return fmt::format("*there = static_cast<{}>(value);", type);
    switch (*routine.combine) {
      case Fold::kSum: return fmt::format("*there = static_cast<{}>(*there + value);", type);
      case Fold::kProduct: return fmt::format("*there = static_cast<{}>(*there * value);", type);
      case Fold::kMax:
        return fmt::format("if (value > *there || value != value) *there = static_cast<{}>(value);",
                           type);
      default:
        return fmt::format("if (value < *there || value != value) *there = static_cast<{}>(value);",
                           type);
    }
  }

  const Program& program_;
  Nest nest_;
  const KernelTarget& target_;
  Needs& needs_;
};

}  // namespace

AnchorText EmitScatter(const Program& program, const Nest& nest, const AnchorOrder& order,
                       Needs& needs) {
  Program renamed = program;
  for (Buffer& buffer : renamed.buffers) buffer.name += "_data";
  const int into = nest.steps[0].buffer;
  std::set<int> read;
  VisitLoads(nest.steps[0].expr, [&](const Load& load, ExprType) { read.insert(load.buffer); });
  read.erase(into);
  std::string parameters =
      fmt::format("{}* __restrict {}", DTypeCppName(BufferOf(renamed, into).dtype),
                  BufferOf(renamed, into).name);
  std::string arguments = BufferOf(program, into).name;
  for (const int buffer : read) {
    const Buffer& of = BufferOf(renamed, buffer);
    parameters += fmt::format(", const {}* __restrict {}", DTypeCppName(of.dtype), of.name);
    arguments += ", " + BufferOf(program, buffer).name;
  }
  Writer out;
  out.Line(fmt::format("namespace {} {{", order.name));
  out.Line("constexpr std::size_t kScratchBytes = 0;");
  out.Line(fmt::format("static void Run({}, void*) {{", parameters));
  ScatterWriter(renamed, nest, order.target, needs).Write(out);
  out.Line("}");
  out.Line(fmt::format("}}  // namespace {}", order.name));
  return {.function = out.text(),
          .call = fmt::format("{}::Run({}, @scratch@);", order.name, arguments)};
}

}  // namespace pragma::expert
