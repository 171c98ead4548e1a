#include "harness/ring.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"
#include "task/set_layout.h"

namespace pragma {
namespace {

// Each guard page splits a mapping in two, and Linux allows 65530 mappings per process.
constexpr std::size_t kMaxGuards = 16384;

std::size_t PageSize() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// Place of a tensor within its page.
enum class Where : std::uint8_t { kStart, kBehindStart, kEnd };

Where PlaceOf(std::size_t set) {
  if (set % 2 == 1) return Where::kEnd;
  return set % 4 == 0 ? Where::kStart : Where::kBehindStart;
}

// Lays tensors out one after the other: guard page, whole pages for the tensor, guard page, ...
class Packer final {
 public:
  explicit Packer(bool guards) : guards_(guards) { Guard(); }

  std::size_t Place(std::size_t bytes, Where where) {
    const std::size_t page = PageSize();
    const std::size_t before = where == Where::kBehindStart ? kTensorAlignment : 0;
    const std::size_t used = std::max(before + bytes, std::size_t{1});
    const std::size_t room = (used + page - 1) / page * page;
    const std::size_t own = std::max(bytes, std::size_t{1});  // even nothing lies inside its pages
    const std::size_t slack = (room - own) / kTensorAlignment * kTensorAlignment;
    const std::size_t offset = end_ + (where == Where::kEnd ? slack : before);
    end_ += room;
    Guard();
    return offset;
  }

  [[nodiscard]] std::size_t end() const { return end_; }
  std::vector<std::size_t> TakeGuards() { return std::move(guard_pages_); }

 private:
  void Guard() {
    if (!guards_) return;
    guard_pages_.push_back(end_);
    end_ += PageSize();
  }
  bool guards_;
  std::size_t end_ = 0;
  std::vector<std::size_t> guard_pages_;
};

std::vector<std::vector<std::size_t>> PlaceSets(Packer& packer,
                                                const std::vector<TensorSpec>& tensors,
                                                std::size_t sets) {
  std::vector<std::vector<std::size_t>> offsets(sets);
  for (std::size_t set = 0; set < sets; ++set) {
    for (const TensorSpec& tensor : tensors) {
      offsets[set].push_back(packer.Place(tensor.bytes(), PlaceOf(set)));
    }
  }
  return offsets;
}

}  // namespace

Placement PlaceRing(const Task& task, std::size_t sets) {
  Placement placement;
  placement.sets = sets;
  Packer inputs(task.arguments.size() * sets <= kMaxGuards);
  placement.arguments = PlaceSets(inputs, task.arguments, sets);
  for (std::size_t set = 0; set < sets && !task.dims.empty(); ++set)
    placement.dims.push_back(inputs.Place(task.dims.size() * sizeof(std::int64_t), PlaceOf(set)));
  placement.input_bytes = inputs.end();
  placement.input_guards = inputs.TakeGuards();
  Packer outputs(true);
  placement.outputs = PlaceSets(outputs, task.outputs, sets);
  placement.output_bytes = outputs.end();
  placement.output_guards = outputs.TakeGuards();
  return placement;
}

Ring::Ring(Placement placement, SharedMemory inputs)
    : placement_(std::move(placement)), inputs_(std::move(inputs)) {}

Result<Ring> Ring::Create(const Task& task, std::size_t sets) {
  Placement placement = PlaceRing(task, sets);
  SharedMemory inputs = TRY(SharedMemory::Create("pragma-inputs", placement.input_bytes));
  if (auto sealed = inputs.Seal(SealKind::kFutureWrites); !sealed) {
    return std::unexpected(sealed.error());
  }
  for (const std::size_t offset : placement.dims) {
    for (std::size_t i = 0; i < task.dims.size(); ++i) {
      std::memcpy(inputs.data() + offset + i * sizeof(std::int64_t), &task.dims[i].value,
                  sizeof(std::int64_t));
    }
  }
  return Ring(std::move(placement), std::move(inputs));
}

void Ring::Fill(const Task& task, std::size_t set, std::span<const std::byte> packed) {
  const SetLayout layout = PackedLayout(task);
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    std::memcpy(inputs_.data() + placement_.arguments[set][i],
                packed.data() + layout.argument_offsets[i], task.arguments[i].bytes());
  }
}

void Ring::Touch(const Task& task, std::size_t set) const {
  constexpr std::size_t kLine = 64;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const volatile std::byte* tensor = inputs_.data() + placement_.arguments[set][i];
    for (std::size_t at = 0; at < task.arguments[i].bytes(); at += kLine) (void)tensor[at];
  }
}

}  // namespace pragma
