#include "lint/decoys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/task.h"
#include "task/set_layout.h"
#include "values/element.h"
#include "verify/structure.h"

namespace pragma {
namespace {

constexpr std::size_t kMostArguments = 8;  // number of arguments that are changed one by one
constexpr std::size_t kMostTails = 4;
constexpr double kTailShare = 0.01;  // share of a dimension; at least one index

using Bytes = std::vector<std::byte>;
// Writes one output. `data` points to the output's elements.
using Painter = std::function<bool(const DecoyScene&, std::size_t output, std::byte* data)>;

std::size_t At(const Task& task, std::size_t output) {
  return PackedLayout(task).output_offsets[output];
}

template <class Value>
void Fill(const TensorSpec& spec, std::byte* data, Value value) {
  for (std::size_t i = 0; i < spec.elements(); ++i) StoreElement(spec.dtype, data, i, value(i));
}

// Makes a decoy that paints all floating outputs at once. Integer outputs are zero.
Decoy Painted(std::string name, bool ignores_inputs, Painter painter) {
  return {.name = std::move(name),
          .ignores_inputs = ignores_inputs,
          .argument = {},
          .make = [painter = std::move(painter)](const DecoyScene& scene) -> Result<DecoyOutputs> {
            Bytes outputs(scene.native.begin(), scene.native.end());
            for (std::size_t i = 0; i < scene.task.outputs.size(); ++i) {
              const TensorSpec& spec = scene.task.outputs[i];
              std::byte* data = outputs.data() + At(scene.task, i);
              if (!IsFloating(spec.dtype)) {
                std::memset(data, 0, spec.bytes());
              } else if (!painter(scene, i, data)) {
                return DecoyOutputs();
              }
            }
            return DecoyOutputs(std::move(outputs));
          }};
}

Decoy Constant(std::string name, double value) {
  return Painted(std::move(name), true,
                 [value](const DecoyScene& scene, std::size_t output, std::byte* data) {
                   Fill(scene.task.outputs[output], data, [value](std::size_t) { return value; });
                   return true;
                 });
}

// Paints each element with the mean of its group in the first set's output. `group` maps an element
// to its group.
template <class Group>
bool PaintMeans(const DecoyScene& scene, std::size_t output, std::byte* data, std::size_t groups,
                Group group) {
  if (scene.first_native.empty()) return false;
  const TensorSpec& spec = scene.task.outputs[output];
  const std::byte* first = scene.first_native.data() + At(scene.task, output);
  std::vector<double> sums(groups);
  std::vector<double> counts(groups);
  WithReader(spec.dtype, [&](auto read) {
    for (std::size_t i = 0; i < spec.elements(); ++i) {
      sums[group(i)] += read(first, i);
      counts[group(i)] += 1;
    }
  });
  Fill(spec, data, [&](std::size_t i) { return sums[group(i)] / counts[group(i)]; });
  return true;
}

Decoy MeanOfAnotherSet() {
  return Painted("mean of another set's output", true,
                 [](const DecoyScene& scene, std::size_t output, std::byte* data) {
                   return PaintMeans(scene, output, data, 1, [](std::size_t) { return 0U; });
                 });
}

Decoy ChannelMeansOfAnotherSet() {
  return Painted("channel means of another set's output", true,
                 [](const DecoyScene& scene, std::size_t output, std::byte* data) {
                   const TensorSpec& spec = scene.task.outputs[output];
                   if (spec.shape.size() < 2) return false;
                   const auto channels = static_cast<std::size_t>(spec.shape[1]);
                   std::size_t inner = 1;
                   for (std::size_t d = 2; d < spec.shape.size(); ++d)
                     inner *= static_cast<std::size_t>(spec.shape[d]);
                   return PaintMeans(scene, output, data, channels,
                                     [=](std::size_t i) { return i / inner % channels; });
                 });
}

Decoy OutputOfAnotherSet() {
  return {.name = "output of another set",
          .ignores_inputs = true,
          .argument = {},
          .make = [](const DecoyScene& scene) -> Result<DecoyOutputs> {
            if (scene.first_native.empty()) return DecoyOutputs();
            return DecoyOutputs(Bytes(scene.first_native.begin(), scene.first_native.end()));
          }};
}

Decoy Poison() {
  return Painted(
      "random values", true, [](const DecoyScene& scene, std::size_t output, std::byte* data) {
        Fill(scene.task.outputs[output], data, [&](std::size_t) { return scene.rng.Normal(); });
        return true;
      });
}

bool SameSize(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.elements() == b.elements();
}

Decoy InputItself(const Task& task, std::size_t argument) {
  return Painted(task.arguments[argument].name + " itself", false,
                 [argument](const DecoyScene& scene, std::size_t output, std::byte* data) {
                   const TensorSpec& from = scene.task.arguments[argument];
                   if (!SameSize(from, scene.task.outputs[output])) return false;
                   const std::size_t at = PackedLayout(scene.task).argument_offsets[argument];
                   std::memcpy(data, scene.arguments.data() + at, from.bytes());
                   return true;
                 });
}

// Makes a decoy that runs the reference on changed arguments.
Decoy Changed(std::string name, std::string argument,
              std::function<void(const DecoyScene&, std::span<std::byte>)> change) {
  return {.name = std::move(name),
          .ignores_inputs = false,
          .argument = std::move(argument),
          .make = [change = std::move(change)](const DecoyScene& scene) -> Result<DecoyOutputs> {
            Bytes arguments(scene.arguments.begin(), scene.arguments.end());
            change(scene, arguments);
            return DecoyOutputs(TRY(scene.run(arguments)));
          }};
}

// Runs the reference on another set's inputs. A kernel that ignores its inputs cannot do better.
Decoy InputsOfAnotherSet() {
  return {.name = "inputs of another set",
          .ignores_inputs = true,
          .argument = {},
          .make = [](const DecoyScene& scene) -> Result<DecoyOutputs> {
            if (scene.first_arguments.empty()) return DecoyOutputs();
            const SetLayout layout = PackedLayout(scene.task);
            Bytes arguments(scene.arguments.begin(), scene.arguments.end());
            for (std::size_t i = 0; i < scene.task.arguments.size(); ++i) {
              const TensorSpec& spec = scene.task.arguments[i];
              const std::size_t at = layout.argument_offsets[i];
              if (spec.role == TensorRole::kInput)
                std::memcpy(arguments.data() + at, scene.first_arguments.data() + at, spec.bytes());
            }
            return DecoyOutputs(TRY(scene.run(arguments)));
          }};
}

// Doubles the values of an argument. Constant tensors (ones or zeros as constructed) get other
// values instead.
Decoy OtherValues(const Task& task, std::size_t argument) {
  const std::string& name = task.arguments[argument].name;
  return Changed(
      name + " changed", name, [argument](const DecoyScene& scene, std::span<std::byte> arguments) {
        const TensorSpec& spec = scene.task.arguments[argument];
        std::byte* data = arguments.data() + PackedLayout(scene.task).argument_offsets[argument];
        const bool constant = DetectStructure(spec, data).constant;
        WithReader(spec.dtype, [&](auto read) {
          Fill(spec, data, [&](std::size_t i) {
            const double value = read(data, i);
            return constant ? value + 0.5 + 0.25 * scene.rng.Uniform() : 2 * value;
          });
        });
      });
}

// Writes zeros into the last one per cent of an input along one dimension, as if the end of a
// reduction were dropped.
Decoy DroppedTail(const Task& task, std::size_t argument, std::size_t dimension) {
  const TensorSpec& spec = task.arguments[argument];
  return Changed(
      fmt::format("last 1 % of {} along dimension {} dropped", spec.name, dimension), "",
      [argument, dimension](const DecoyScene& scene, std::span<std::byte> arguments) {
        const TensorSpec& tensor = scene.task.arguments[argument];
        std::byte* data = arguments.data() + PackedLayout(scene.task).argument_offsets[argument];
        const auto size = static_cast<std::size_t>(tensor.shape[dimension]);
        const auto share = static_cast<double>(size) * kTailShare;
        const std::size_t kept = size - std::max<std::size_t>(1, static_cast<std::size_t>(share));
        std::size_t inner = 1;
        for (std::size_t d = dimension + 1; d < tensor.shape.size(); ++d)
          inner *= static_cast<std::size_t>(tensor.shape[d]);
        for (std::size_t i = 0; i < tensor.elements(); ++i) {
          if (i / inner % size >= kept) StoreElement(tensor.dtype, data, i, 0);
        }
      });
}

Decoy InBFloat16() {
  return Changed("all arguments rounded to bf16", "",
                 [](const DecoyScene& scene, std::span<std::byte> arguments) {
                   const SetLayout layout = PackedLayout(scene.task);
                   for (std::size_t i = 0; i < scene.task.arguments.size(); ++i) {
                     const TensorSpec& spec = scene.task.arguments[i];
                     if (spec.dtype != DType::kFloat32 || spec.role == TensorRole::kConstant)
                       continue;
                     std::byte* data = arguments.data() + layout.argument_offsets[i];
                     Fill(spec, data, [&](std::size_t k) {
                       return BFloat16ToDouble(ToBFloat16(LoadElement<float>(data, k)));
                     });
                   }
                 });
}

bool Changeable(const TensorSpec& tensor) {
  return IsFloating(tensor.dtype) && tensor.elements() > 0 && tensor.role != TensorRole::kConstant;
}

void AddTails(const Task& task, std::size_t argument, std::vector<Decoy>& decoys) {
  const TensorSpec& spec = task.arguments[argument];
  const std::size_t rank = spec.shape.size();
  for (std::size_t d = rank > 1 ? 1 : 0; d < rank && d < kMostTails; ++d) {
    if (spec.shape[d] > 1) decoys.push_back(DroppedTail(task, argument, d));
  }
}

}  // namespace

std::vector<Decoy> DecoysFor(const Task& task) {
  std::vector<Decoy> decoys{Constant("zeros", 0),       Constant("ones", 1),  MeanOfAnotherSet(),
                            ChannelMeansOfAnotherSet(), OutputOfAnotherSet(), Poison(),
                            InputsOfAnotherSet()};
  std::vector<std::size_t> changeable;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const TensorSpec& spec = task.arguments[i];
    if (!Changeable(spec)) continue;
    changeable.push_back(i);
    const auto same = [&](const TensorSpec& output) { return SameSize(spec, output); };
    if (spec.role == TensorRole::kInput && std::ranges::any_of(task.outputs, same))
      decoys.push_back(InputItself(task, i));
  }
  if (changeable.size() > kMostArguments) changeable.resize(kMostArguments);
  for (const std::size_t i : changeable) decoys.push_back(OtherValues(task, i));
  decoys.push_back(InBFloat16());
  for (const std::size_t i : changeable) {
    if (task.arguments[i].role == TensorRole::kInput) AddTails(task, i, decoys);
  }
  return decoys;
}

}  // namespace pragma
