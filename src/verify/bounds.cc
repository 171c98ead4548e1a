#include "verify/bounds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/task.h"
#include "core/timing.h"
#include "machine/machine.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

constexpr double kImplausibleShare = 0.9;  // share of the hard bound

// True for operators that may read only a part of their first argument.
bool SelectsPart(std::string_view op) {
  constexpr std::array<std::string_view, 10> kSelecting{
      "aten.embedding", "aten.index", "aten.gather", "aten.slice",  "aten.select",
      "aten.narrow",    "aten.take",  "aten.split",  "aten.unbind", "aten.masked"};
  return std::ranges::any_of(kSelecting,
                             [&](std::string_view name) { return op.starts_with(name); });
}

bool Mentions(const ScalarValue& value, const std::string& node) {
  if (value.kind == ScalarValue::Kind::kNode) return value.text == node;
  return std::ranges::any_of(value.items,
                             [&](const ScalarValue& item) { return Mentions(item, node); });
}

// Returns the name that other nodes use for an argument. torch.export has its own names for
// parameters and capital letters.
std::string NodeOf(const Task& task, const std::string& argument) {
  for (const GraphNode& node : task.graph) {
    const bool takes = node.op == "placeholder" && !node.results.empty();
    if (takes && node.results.front().name == argument) return node.name;
  }
  return argument;
}

bool UsedWhole(const Task& task, const std::string& argument) {
  const std::string taken = NodeOf(task, argument);
  for (const GraphNode& node : task.graph) {
    if (node.op == "output" || SelectsPart(node.op)) continue;
    const bool used =
        std::ranges::any_of(node.args,
                            [&](const ScalarValue& value) { return Mentions(value, taken); }) ||
        std::ranges::any_of(node.kwargs,
                            [&](const NamedValue& value) { return Mentions(value.value, taken); });
    if (used) return true;
  }
  return false;
}

// Returns the size in bytes of the widest floating type of arguments and outputs, or 4 where there
// is none.
std::size_t WidestFloat(const Task& task) {
  std::size_t widest = 0;
  for (const std::vector<TensorSpec>* tensors : {&task.arguments, &task.outputs})
    for (const TensorSpec& tensor : *tensors)
      if (IsFloating(tensor.dtype)) widest = std::max(widest, DTypeSize(tensor.dtype));
  return widest == 0 ? 4 : widest;
}

bool AllBFloat16(const Task& task) {
  const auto wide = [](const TensorSpec& tensor) {
    return IsFloating(tensor.dtype) && tensor.dtype != DType::kBFloat16;
  };
  return std::ranges::none_of(task.arguments, wide) && std::ranges::none_of(task.outputs, wide);
}

// Returns the peak of the fastest units that can compute the task's products in its type.
double PeakGflops(const Task& task, const Machine& machine) {
  const std::size_t bytes = WidestFloat(task);
  if (machine.device) {
    return bytes == 2 ? machine.device->half_product_gflops()
                      : machine.device->fp32_product_gflops();
  }
  if (bytes == 8) return machine.peak_gflops / 2;  // half as many lanes
  return AllBFloat16(task) ? std::max(machine.peak_gflops, machine.bf16_gflops)
                           : machine.peak_gflops;
}

double Milliseconds(double bytes, double gbs) { return gbs > 0 ? bytes / gbs * 1e-6 : 0; }

// Computes the bound from the peak bandwidths of the device's memory and of its second-level cache.
// Bytes that fit into that cache may be there already.
double DeviceBoundMs(double bytes, const Device& device) {
  const double beyond = std::max(0.0, bytes - static_cast<double>(device.l2_bytes));
  return std::max(Milliseconds(bytes, device.l2_gbs()), Milliseconds(beyond, device.memory_gbs));
}

}  // namespace

Traffic UnavoidableTraffic(const Task& task) {
  Traffic traffic;
  for (const TensorSpec& output : task.outputs) traffic.write_bytes += output.bytes();
  for (const TensorSpec& argument : task.arguments) {
    if (UsedWhole(task, argument.name)) traffic.read_bytes += argument.bytes();
  }
  return traffic;
}

double TrafficMs(const Traffic& traffic, std::size_t working_set, const Machine& machine) {
  Bandwidth best;
  for (const Bandwidth& level : machine.bandwidth) {
    const bool last = &level == &machine.bandwidth.back();
    if (level.working_set_bytes < working_set && !last) continue;
    best.read_gbs = std::max(best.read_gbs, level.read_gbs);
    best.write_gbs = std::max(best.write_gbs, level.write_gbs);
    best.copy_gbs = std::max({best.copy_gbs, level.copy_gbs, level.read_gbs, level.write_gbs});
  }
  const auto reads = static_cast<double>(traffic.read_bytes);
  const auto writes = static_cast<double>(traffic.write_bytes);
  return std::max({Milliseconds(reads, best.read_gbs), Milliseconds(writes, best.write_gbs),
                   Milliseconds(reads + writes, best.copy_gbs)});
}

double HardBoundMs(const Task& task, const Machine& machine) {
  const Traffic traffic = UnavoidableTraffic(task);
  if (!machine.device) return TrafficMs(traffic, task.set_bytes(), machine);
  return DeviceBoundMs(static_cast<double>(traffic.read_bytes + traffic.write_bytes),
                       *machine.device);
}

bool FasterThanPossible(double ms, double bound_ms) { return ms < kImplausibleShare * bound_ms; }

bool BoundCanBeTold(double bound_ms, double doorbell_us) {
  return bound_ms * PRAGMA_MAX_SETS >= doorbell_us * 1e-3;  // a burst visits each set once
}

std::optional<Roofline> RooflineOf(const Task& task, const Machine& machine) {
  const double peak = PeakGflops(task, machine);
  if (peak <= 0) return std::nullopt;
  const double compute = task.flops / peak * 1e-6;
  const double memory = HardBoundMs(task, machine);
  if (std::max(compute, memory) <= 0) return std::nullopt;
  return Roofline{.ms = std::max(compute, memory), .compute_bound = compute > memory};
}

double SoftBoundMs(const Task& task, const Machine& machine) {
  const double fp32 = machine.device ? machine.device->fp32_product_gflops() : machine.peak_gflops;
  const double peak = std::max(fp32, PeakGflops(task, machine));
  return peak > 0 ? task.flops / peak * 1e-6 : 0;
}

}  // namespace pragma
