#include "task/referee.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "task/torch_channel.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

std::vector<std::uint32_t> Numbers(std::span<const std::uint32_t> slots) {
  return {slots.begin(), slots.end()};
}

OutputFigures ReadOutput(const JsonReader& value) {
  OutputFigures figures;
  ErrorPass& pass = figures.pass;
  value.Get("sum_squared_error", pass.sum_squared_error);
  value.Get("sum_squared", pass.sum_squared);
  value.Get("max_abs", pass.max_abs);
  value.Get("max_rel", pass.max_rel);
  value.Get("max_any_rel", pass.max_any_rel);
  value.Get("max_scaled", pass.max_scaled);
  value.Get("worst", pass.worst);
  value.Get("mismatched", pass.mismatched);
  value.Get("first_mismatch", pass.first_mismatch);
  value.Get("odd_truth", pass.odd_truth);
  value.Get("first_odd", pass.first_odd);
  value.Get("worst_values", figures.worst);
  value.Get("first_values", figures.first);
  value.Get("odd_values", figures.odd);
  return figures;
}

std::vector<OutputFigures> ReadOutputs(const JsonReader& list) {
  std::vector<OutputFigures> outputs;
  for (const JsonReader& value : list.items()) outputs.push_back(ReadOutput(value));
  return outputs;
}

Result<TruthFigures> ReadTruth(const JsonReader& reply) {
  TruthFigures truth;
  reply.Get("refused", truth.refused);
  for (const JsonReader& value : reply["outputs"].items()) {
    TruthFigures::Output& output = truth.outputs.emplace_back();
    output.torch = ReadOutput(value);
    value.Get("finite", output.finite);
    value.Get("finite_somewhere", output.finite_somewhere);
    value.Get("peak_over_rms", output.peak_over_rms);
    value.Get("exact", output.exact);
  }
  TRY(reply.status());
  return truth;
}

SlotFigures ReadSlot(const JsonReader& value) {
  SlotFigures slot;
  value.Get("outside", slot.outside);
  value.Get("written", slot.written);
  value.Get("as_kept", slot.as_kept);
  value.Get("official", slot.official);
  slot.outputs = ReadOutputs(value["outputs"]);
  return slot;
}

// Checks the number of figures. Fewer figures than outputs would mean that an output was never
// compared.
Result<void> CheckCount(std::size_t found, std::size_t wanted) {
  if (found == wanted) return {};
  return Fail("the PyTorch server compared " + std::to_string(found) + " outputs of " +
              std::to_string(wanted));
}

void WriteRounding(JsonWriter& request, const Referee::Rounding& rounding) {
  request.Field("size", rounding.size).Field("seed", rounding.seed);
  request.Field("rounds", rounding.rounds).Field("factor", rounding.factor);
  request.Field("further", rounding.further).Field("further_factor", rounding.further_factor);
  request.Field("adds_up", rounding.adds_up).Field("ties", rounding.ties);
  request.Field("flush", rounding.flush);
}

}  // namespace

Result<void> Referee::Open(std::size_t sets, std::size_t draws) {
  JsonWriter request = ServerRequest("open_sets");
  request.Field("sets", sets).Field("draws", draws);
  TRY(server_->Ask(request, {}, "making room for input sets"));
  return {};
}

Result<TruthFigures> Referee::Draw(std::uint64_t seed, std::size_t draw, std::size_t slot) {
  JsonWriter request = ServerRequest("draw_set");
  request.Field("seed", seed).Field("draw", draw).Field("slot", slot);
  const JsonReader reply = TRY(server_->Ask(request, {}, "drawing an input set"));
  TruthFigures truth = TRY(ReadTruth(reply));
  TRY(CheckCount(truth.outputs.size(), server_->task().outputs.size()));
  return truth;
}

Result<TruthFigures> Referee::Restore(std::size_t draw, std::size_t slot) {
  JsonWriter request = ServerRequest("restore_set");
  request.Field("draw", draw).Field("slot", slot);
  const JsonReader reply = TRY(server_->Ask(request, {}, "restoring an input set"));
  TruthFigures truth = TRY(ReadTruth(reply));
  TRY(CheckCount(truth.outputs.size(), server_->task().outputs.size()));
  return truth;
}

Result<TruthFigures> Referee::Apply(const BatteryRequest& battery, std::size_t draw,
                                    std::size_t slot) {
  JsonWriter request = ServerRequest("battery_set");
  request.Field("battery", battery.name).Field("rung", battery.rung);
  request.Field("integer_bound", battery.integer_bound).Field("argument", battery.argument);
  request.Field("constants", battery.constants).Field("part", battery.part);
  request.Field("draw", draw).Field("seed", battery.seed).Field("slot", slot);
  const JsonReader reply = TRY(server_->Ask(request, {}, "making a battery's input set"));
  TruthFigures truth = TRY(ReadTruth(reply));
  if (truth.refused.empty()) {
    TRY(CheckCount(truth.outputs.size(), server_->task().outputs.size()));
  }
  return truth;
}

Result<void> Referee::Renew(std::span<const std::uint32_t> slots, std::uint64_t seed) {
  JsonWriter request = ServerRequest("renew_sets");
  request.Field("slots", Numbers(slots)).Field("seed", seed);
  TRY(server_->Ask(request, {}, "refilling input sets"));
  return {};
}

Result<ConditionedFigures> Referee::CompareConditioned(std::size_t area, std::size_t slot,
                                                       const Rounding& rounding) {
  JsonWriter request = ServerRequest("compare_conditioned");
  request.Field("area", area).Field("slot", slot);
  WriteRounding(request, rounding);
  const JsonReader reply = TRY(server_->Ask(request, {}, "changing inputs by their rounding"));
  ConditionedFigures figures{.slot = ReadSlot(reply["slot"]), .small = {}};
  for (const JsonReader& value : reply["small"].items()) {
    ConditionedFigures::Small& small = figures.small.emplace_back();
    value.Get("wrong", small.wrong);
    value.Get("first", small.first);
    value.Get("values", small.values);
  }
  TRY(reply.status());
  TRY(CheckCount(figures.slot.outputs.size(), server_->task().outputs.size()));
  TRY(CheckCount(figures.small.size(), server_->task().outputs.size()));
  return figures;
}

Result<std::vector<TruthFigures>> Referee::JudgeNearby(std::size_t slot, const Rounding& rounding) {
  JsonWriter request = ServerRequest("judge_nearby");
  request.Field("slot", slot);
  WriteRounding(request, rounding);
  const JsonReader reply = TRY(server_->Ask(request, {}, "measuring PyTorch's error nearby"));
  std::vector<TruthFigures> found;
  for (const JsonReader& copy : reply["copies"].items()) {
    found.push_back(TRY(ReadTruth(copy)));
    TRY(CheckCount(found.back().outputs.size(), server_->task().outputs.size()));
  }
  TRY(reply.status());
  return found;
}

Result<Referee::SharedArea> Referee::Share(std::size_t area, AreaKind kind) {
  UniqueFd ours;
  UniqueFd theirs;
  TRY(MakeCredentialPair(ours, theirs));
  JsonWriter request = ServerRequest("share_area");
  request.Field("area", area).Field("outputs", kind != AreaKind::kTorch);
  request.Field("shifts", kind == AreaKind::kTriton);
  const std::array<int, 1> fds{theirs.get()};
  const JsonReader reply = TRY(server_->Ask(request, fds, "making an area for a measured process"));
  SharedArea shared{.end = std::move(ours), .layout = {}};
  reply.Get("input_bytes", shared.layout.input_bytes);
  reply.Get("output_bytes", shared.layout.output_bytes);
  reply.Get("arguments_at", shared.layout.arguments);
  reply.Get("outputs_at", shared.layout.outputs);
  TRY(reply.status());
  return shared;
}

Result<void> Referee::Drop(std::size_t area) {
  JsonWriter request = ServerRequest("drop_area");
  request.Field("area", area);
  TRY(server_->Ask(request, {}, "giving an area back"));
  return {};
}

Result<void> Referee::Put(std::size_t area, std::span<const std::uint32_t> slots,
                          std::uint64_t seed, Outputs outputs) {
  JsonWriter request = ServerRequest("put_sets");
  request.Field("area", area).Field("slots", Numbers(slots)).Field("seed", seed);
  request.Field("fill", outputs == Outputs::kFilled);
  TRY(server_->Ask(request, {}, "handing input sets over"));
  return {};
}

Result<std::vector<SlotFigures>> Referee::Compare(std::size_t area,
                                                  std::span<const std::uint32_t> slots) {
  JsonWriter request = ServerRequest("compare_sets");
  request.Field("area", area).Field("slots", Numbers(slots));
  const JsonReader reply = TRY(server_->Ask(request, {}, "comparing outputs"));
  std::vector<SlotFigures> figures;
  for (const JsonReader& value : reply["slots"].items()) figures.push_back(ReadSlot(value));
  TRY(reply.status());
  std::size_t outputs = 0;
  for (const SlotFigures& slot : figures) outputs += slot.outputs.size();
  TRY(CheckCount(outputs, slots.size() * server_->task().outputs.size()));
  TRY(CheckCount(figures.size(), slots.size()));
  return figures;
}

Result<void> Referee::Keep(std::size_t area, std::size_t slot) {
  JsonWriter request = ServerRequest("keep_outputs");
  request.Field("area", area).Field("slot", slot);
  TRY(server_->Ask(request, {}, "keeping outputs"));
  return {};
}

}  // namespace pragma
