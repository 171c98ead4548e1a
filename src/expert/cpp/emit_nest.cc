#include "expert/cpp/emit_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/nest_parts.h"
#include "expert/cpp/nest_windows.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/past_caches.h"
#include "expert/plan/spread.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kFewOuter = 16;  // with fewer outer iterations than this, work is divided in
                                        // blocks

// Writes passes along rows and down columns.
class NestWriter final : public NestWindows {
 public:
  NestWriter(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
             Writer& out)
      : NestWindows(program, nest, choices, needs, out) {}

  void Write() {
    if (nest_.lane >= 0) needs_.vectors = true;
    DeclareTunables();
    if (FoldsEverything()) return WriteSharedFold();
    if (const std::optional<Windows> windows = WindowsOf()) return WriteWindows(*windows);
    if (nest_.lane >= 0 && !nest_.LaneInside()) return WriteColumns();
    WriteRows();
  }

 private:
  void DeclareTunables() {
    const bool folds =
        std::ranges::any_of(nest_.phases, [&](const Phase& phase) { return Folds(phase); });
    const bool parts = FoldsEverything() || std::ranges::any_of(nest_.phases, [&](const Phase& p) {
                         return !p.outer && NeedsParts(p);
                       });
    if (nest_.LaneInside() && folds) chains_ = Tunable("CHAINS", kChains, {1, 2, 4, 8});
    if (SharesLaneOut() || (parts && CutsLane()) || SpreadCutsLane())
      block_ = Tunable("BLOCK", kBlock, {1024, 4096, 16384});
  }

  // ---- Rows: vectors run along an inner dimension, or there are no vectors.

  void WriteRows() {
    if (const std::optional<Turned> turned = TurnedLoad()) return WriteTiles(*turned);
    const std::vector<std::size_t> outer = OuterLoops();
    const bool blocks = SharesLaneOut();
    for (const Phase& phase : nest_.phases) DeclareOwnAhead(phase);
    BeginWork(static_cast<int>(outer.size()) + (blocks ? 1 : 0));
    for (const std::size_t i : outer) Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    if (blocks) {
      const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
      OpenBlocks(size);
    }
    if (outer.empty() && !blocks) out_.Line("{");
    for (std::size_t p = 0; p < nest_.phases.size(); ++p) {
      const Phase& phase = nest_.phases[p];
      if (const std::optional<Spread> spread = SpreadAt(nest_, p)) {
        WriteSpread(phase, *spread);
        ++p;
      } else {
        phase.outer || NothingInside() ? WriteOuter(phase) : WriteRowPass(phase);
      }
    }
    Close(outer.size() + (blocks ? 1 : 0) + (outer.empty() && !blocks ? 1 : 0));
    EndWork();
  }

  // Returns whether the nest maps single elements. There is then no pass before which code could be
  // placed.
  [[nodiscard]] bool NothingInside() const { return nest_.lane < 0 && nest_.InnerCount() == 1; }

  // ---- Tiles: a load is contiguous along another dimension than the stores, as in a transpose.
  // Cache lines are read once and transposed in registers.

  struct Turned {
    const Load* load = nullptr;
    std::size_t other = 0;  // the dimension along which the load is contiguous
  };
  // The number of elements in each direction that a thread takes at a time. Along the load there
  // are more (kLongTile) if that leaves enough work for all threads, so that rows are read in long
  // stretches.
  static constexpr std::int64_t kTile = 256;
  static constexpr std::int64_t kLongTile = 1024;

  [[nodiscard]] std::optional<Turned> TurnedLoad() const {
    const auto lane = static_cast<std::size_t>(std::max(nest_.lane, 0));
    if (!nest_.LaneInside() || nest_.phases.size() != 1 || nest_.InnerCount() != nest_.shape[lane])
      return std::nullopt;
    Turned turned;
    bool fits = nest_.shape[lane] >= kTile;
    for (const Step& step : nest_.steps) {
      fits = fits && step.kind == Step::Kind::kMap;
      VisitLoads(step.expr, [&](const Load& load, ExprType) {
        if (std::abs(load.address.factor[lane]) < kAligned) return;
        for (const std::size_t i : OuterLoops())
          if (load.address.factor[i] == 1 && nest_.shape[i] >= kTile) turned = {&load, i};
      });
    }
    if (!fits || turned.load == nullptr) return std::nullopt;
    for (const Step& step : nest_.steps)
      VisitLoads(step.expr, [&](const Load& load, ExprType type) {
        if (load.buffer != turned.load->buffer) return;
        fits = fits && type == ExprType::kFloat && load.address == turned.load->address &&
               load.bounds.empty() && load.indirect.empty();
      });
    const Buffer& buffer = program_.buffers[static_cast<std::size_t>(turned.load->buffer)];
    if (!fits || buffer.dtype != DType::kFloat32) return std::nullopt;
    return turned;
  }

  void WriteTiles(const Turned& turned) {
    std::vector<std::size_t> outer = OuterLoops();
    std::erase(outer, turned.other);
    const std::int64_t rows = nest_.shape[turned.other];
    const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
    const std::int64_t pieces = nest_.OuterCount() / kLongTile * (size / kTile);
    struct Cut {
      const char* begin;
      const char* end;
      std::int64_t count;
      std::int64_t step;
    };
    const std::int64_t stretch = pieces >= 4 * choices_.threads_count ? kLongTile : kTile;
    const std::array<Cut, 2> cuts{{{"block", "to", rows, stretch}, {"begin", "end", size, kTile}}};
    BeginWork(static_cast<int>(outer.size()) + 2);
    for (const std::size_t i : outer) Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    for (const Cut& cut : cuts)
      out_.Line(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += {2}) {{", cut.begin,
                            cut.count, cut.step));
    for (const Cut& cut : cuts)
      out_.Line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", cut.end,
                            cut.begin, cut.step, cut.count));
    WriteTurned(turned);
    out_.Line("// What whole lines leave over.");
    Loop(loops_[turned.other], "block", "to");
    from_ = fmt::format(
        "({} < block + (to - block) / kLine * kLine ? begin + (end - begin) / "
        "kLine * kLine : begin)",
        loops_[turned.other]);
    to_ = "end";
    WriteRowPass(nest_.phases[0]);
    Close(outer.size() + 3);
    EndWork();
  }

  void WriteTurned(const Turned& turned) {
    needs_.pieces.insert(VectorPiece::kTurn);
    const std::string& other = loops_[turned.other];
    const std::int64_t stride = turned.load->address.factor[static_cast<std::size_t>(nest_.lane)];
    out_.Line("for (std::int64_t line = begin; line + kLine <= end; line += kLine) {");
    out_.Line("for (std::int64_t tile = block; tile + kLine <= to; tile += kLine) {");
    out_.Line("Vec turned[kLineParts][kLine];");
    std::vector<std::string> loops = loops_;
    loops[turned.other] = "tile";
    loops[static_cast<std::size_t>(nest_.lane)] = "line";
    out_.Line(fmt::format("LoadTurned({} + {}, {}, turned);",
                          program_.buffers[static_cast<std::size_t>(turned.load->buffer)].name,
                          FormText(turned.load->address, loops), stride));
    out_.Line("#pragma GCC unroll 16");
    out_.Line(fmt::format("for (std::int64_t {0} = tile; {0} < tile + kLine; ++{0}) {{", other));
    out_.Line("#pragma GCC unroll 4");
    out_.Line("for (std::int64_t e = line; e < line + kLine; e += kLanes) {");
    out_.Line("constexpr AllLanes lanes{};");
    values_.BeginPass(&out_, &out_);
    values_.Forward(
        turned.load->buffer,
        {fmt::format("turned[(e - line) / kLanes][{} - tile]", other), true, ExprType::kFloat});
    CountUses(nest_.phases[0]);
    for (const std::size_t s : nest_.phases[0].steps) WriteInside(nest_.steps[s], out_);
    values_.Forget(turned.load->buffer);
    for (const std::size_t s : nest_.phases[0].steps) values_.Forget(nest_.steps[s].buffer);
    Close(4);
  }

  // Returns whether a long run in a nest that only maps is cut, so that threads can share it.
  [[nodiscard]] bool SharesLaneOut() const {
    if (nest_.lane < 0 || nest_.phases.size() != 1 || nest_.OuterCount() >= kFewOuter) return false;
    const bool maps = std::ranges::all_of(
        nest_.steps, [](const Step& step) { return step.kind == Step::Kind::kMap; });
    return maps && nest_.shape[static_cast<std::size_t>(nest_.lane)] >= 2 * kBlock;
  }

  void WriteRowPass(const Phase& phase) {
    if (NeedsParts(phase)) return WriteInParts(phase, false);
    for (const std::size_t s : phase.steps) Declare(nest_.steps[s]);
    Writer body(out_.depth() + InnerLoops(phase) + (nest_.LaneInside() ? 1 : 0));
    values_.BeginPass(&out_, &body);
    const LoopLimits limits = LimitsOf(phase);
    values_.Assume(limits.assumed);
    CountUses(phase);
    for (const std::size_t s : phase.steps) WriteInside(nest_.steps[s], body);
    if (LooksAhead(phase)) WriteAhead(body);
    WriteOwnAhead(phase, body);
    std::size_t open = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i] || static_cast<int>(i) == nest_.lane) continue;
      OpenInner(i, limits);
      ++open;
    }
    if (nest_.LaneInside()) {
      const std::string size = std::to_string(nest_.shape[static_cast<std::size_t>(nest_.lane)]);
      const bool asks = AsksForOwn(phase);
      const std::string turn = Folds(phase) ? chains_ : asks ? "kLineParts" : "1";
      out_.Line(fmt::format(
          "ForLanes<{}>({}, {}, [&](std::int64_t e, {}, [[maybe_unused]] auto lanes) INLINE {{",
          turn, from_, to_.empty() ? size : to_, Folds(phase) || asks ? "int u" : "int"));
    }
    out_.Append(body);
    if (nest_.LaneInside()) out_.Line("});");
    Close(open);
    values_.Assume({});
    for (const std::size_t s : phase.steps) values_.Forget(nest_.steps[s].buffer);
    for (const std::size_t s : phase.steps) Finish(nest_.steps[s]);
  }

  // ---- Columns: vectors run along an outer dimension, side by side.

  void WriteColumns() {
    const std::vector<std::size_t> outer = OuterLoops();
    const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
    constexpr std::int64_t kFloats = 16;  // floats in the widest vector
    const int wanted = WideColumns();
    std::vector<int> counts{1, 2, 4, 8, 16};
    if (wanted > kColumns) counts = {4, 8, 16, 32, 64, kMostColumns};
    std::erase_if(counts, [&](int count) { return count > 1 && count * kFloats > size; });
    if (counts.empty()) counts = {1};
    wide_ = std::min(wanted, counts.back());
    const std::string vectors = columns_ = Tunable("COLUMNS", wide_, counts);
    if (wide_ > kColumns) {
      needs_.pieces.insert(VectorPiece::kWide);
      // The width is a stretch of memory, independent of the processor's vector length.
      columns_ += " * kLine / kLanes";
    }
    BeginWork(static_cast<int>(outer.size()) + 1);
    for (const std::size_t i : outer) Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    out_.Line(fmt::format("for (std::int64_t block = 0; block < {}; block += {} * {}) {{", size,
                          vectors, wide_ > kColumns ? "kLine" : "kLanes"));
    out_.Line(
        fmt::format("For{}Columns<{}>(block, {}, [&](std::int64_t first, auto vectors, "
                    "[[maybe_unused]] auto lanes) INLINE {{",
                    wide_ > kColumns ? "Wide" : "", columns_, size));
    out_.Line("constexpr int V = decltype(vectors)::value;");
    for (const Phase& phase : nest_.phases)
      phase.outer ? WriteColumnOuter(phase) : WriteColumnPass(phase);
    out_.Line("});");
    Close(outer.size() + 1);
    EndWork();
  }

  // ---- Windows: columns computed from a row into which the windows' other dimensions are already
  // reduced.

  void WriteWindows(const Windows& windows) {
    const std::vector<std::size_t> outer = OuterLoops();
    const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
    BeginWork(static_cast<int>(outer.size()));
    for (const std::size_t i : outer) Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    if (outer.empty()) out_.Line("{");
    WriteRow(windows);
    out_.Line("for (std::int64_t along = block; along < end; along += kLanes) {");
    out_.Line(
        fmt::format("ForColumns<1>(along, {}, [&](std::int64_t first, auto vectors, "
                    "[[maybe_unused]] auto lanes) INLINE {{",
                    size));
    out_.Line("constexpr int V = decltype(vectors)::value;");
    WriteAlong(windows);
    for (std::size_t p = 1; p < nest_.phases.size(); ++p) WriteColumnOuter(nest_.phases[p]);
    out_.Line("});");
    Close(std::max<std::size_t>(outer.size(), 1) + 2);
    EndWork();
  }

  void WriteAlong(const Windows& windows) {
    const Step& step = *windows.step;
    Declare(step);
    Loop(loops_[windows.across], "0", std::to_string(nest_.shape[windows.across]));
    OpenVectors(out_);
    for (const std::string& line : AddToFold(FormOf(step), InRow(windows), "")) out_.Line(line);
    Close(2);
    Finish(step);
  }

  void WriteColumnOuter(const Phase& phase) {
    for (const std::size_t s : phase.steps) {
      const Step& step = nest_.steps[s];
      Writer body(out_.depth() + 1);
      values_.BeginPass(&body, &body);
      values_.CountUses(step.expr);
      const Text value = values_.Write(step.expr);
      Text kept = value;
      if (Reads(nest_, step.buffer)) {
        kept.code = values_.NewName(step.name);
        kept.vector = true;
        out_.Line(fmt::format("Vec {}[V];", kept.code));
        kept.code += "[v]";
      }
      OpenVectors(out_);
      out_.Append(body);
      if (kept.code != value.code) {
        out_.Line(fmt::format("{} = {};", kept.code, values_.AsVector(value)));
        values_.Forward(step.buffer, kept);
      }
      if (!Kept(step.buffer)) Store(out_, step, kept);
      out_.Line("}");
    }
  }

  void WriteColumnPass(const Phase& phase) {
    for (const std::size_t s : phase.steps) Declare(nest_.steps[s]);
    Writer body(out_.depth() + InnerLoops(phase) + 1);
    values_.BeginPass(&out_, &body);
    const LoopLimits limits = LimitsOf(phase);
    values_.Assume(limits.assumed);
    CountUses(phase);
    for (const std::size_t s : phase.steps) WriteInside(nest_.steps[s], body);
    WriteRowsAhead(phase, body);
    if (LooksAhead(phase)) WriteAhead(body);
    std::size_t open = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i]) continue;
      OpenInner(i, limits);
      ++open;
    }
    OpenVectors(out_);
    out_.Append(body);
    out_.Line("}");
    Close(open);
    values_.Assume({});
    for (const std::size_t s : phase.steps) values_.Forget(nest_.steps[s].buffer);
    for (const std::size_t s : phase.steps) Finish(nest_.steps[s]);
  }
};

}  // namespace

void EmitNest(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
              Writer& out) {
  if (const std::optional<HeldRows> held = HoldRows(program, nest, choices))
    return NestWriter(held->program, held->nest, choices, needs, out).Write();
  NestWriter(program, nest, choices, needs, out).Write();
}

}  // namespace pragma::expert
