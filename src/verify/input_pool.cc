#include "verify/input_pool.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"
#include "task/set_layout.h"
#include "task/torch_server.h"
#include "values/element.h"

namespace pragma {
namespace {

// The approximate number of pieces per tensor, and the smallest piece in elements: no piece is
// shorter than a cache line.
constexpr std::size_t kPieces = 8;
constexpr std::size_t kMinPiece = 16;

__extension__ typedef _Float16 Half;  // NOLINT(modernize-use-using): an extension needs the keyword

struct Piece {
  const std::byte* from;
  std::byte* to;
  std::size_t begin;
  std::size_t end;
  double factor;
};

template <class T>
void ScalePiece(const Piece& piece) {
  const auto factor = static_cast<T>(piece.factor);
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    const T value = LoadElement<T>(piece.from, i) * factor;
    std::memcpy(piece.to + i * sizeof(T), &value, sizeof(T));
  }
}

void ScaleBFloat16(const Piece& piece) {
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    const double value = BFloat16ToDouble(LoadElement<std::uint16_t>(piece.from, i));
    const std::uint16_t bits = ToBFloat16(static_cast<float>(value * piece.factor));
    std::memcpy(piece.to + i * sizeof(bits), &bits, sizeof(bits));
  }
}

void ScaleAny(DType dtype, const Piece& piece) {
  switch (dtype) {
    case DType::kFloat32: return ScalePiece<float>(piece);
    case DType::kFloat64: return ScalePiece<double>(piece);
    case DType::kBFloat16: return ScaleBFloat16(piece);
    case DType::kFloat16: return ScalePiece<Half>(piece);
    default: return;
  }
}

bool HasBothSigns(const TensorSpec& tensor, const std::byte* data) {
  return WithReader(tensor.dtype, [&](auto read) {
    bool negative = false;
    bool positive = false;
    // A sample is enough: a tensor whose first few thousand elements have one sign has one sign.
    const std::size_t count = std::min<std::size_t>(tensor.elements(), 4096);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = read(data, i);
      negative = negative || value < 0;
      positive = positive || value > 0;
    }
    return negative && positive;
  });
}

}  // namespace

InputPool::InputPool(SharedMemory memory, std::size_t draws, std::size_t set_bytes)
    : memory_(std::move(memory)), draws_(draws), set_bytes_(set_bytes) {}

Result<InputPool> InputPool::Create(const Task& task, std::size_t draws) {
  const std::size_t set_bytes = PackedLayout(task).argument_bytes;
  SharedMemory memory =
      TRY(SharedMemory::Create("pragma-pool", std::max<std::size_t>(draws * set_bytes, 1)));
  return InputPool(std::move(memory), draws, set_bytes);
}

Result<void> InputPool::Draw(TorchServer& server, std::size_t index, std::uint64_t seed) {
  TRY(server.Draw(seed, memory_, offset(index)));
  NoteDrawn(index);
  return {};
}

void InputPool::NoteDrawn(std::size_t index) { drawn_ = std::max(drawn_, index + 1); }

std::span<const std::byte> InputPool::set(std::size_t index) const {
  return memory_.bytes().subspan(offset(index), set_bytes_);
}

void InputPool::Splice(const Task& task, Rng& rng, std::span<std::byte> packed) const {
  const SetLayout layout = PackedLayout(task);
  for (std::size_t i = 0; i < task.arguments.size(); ++i)
    SpliceTensor(task.arguments[i], layout.argument_offsets[i], rng, packed);
}

void InputPool::SpliceInputs(const Task& task, Rng& rng, std::span<std::byte> packed) const {
  const SetLayout layout = PackedLayout(task);
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    if (task.arguments[i].role == TensorRole::kInput)
      SpliceTensor(task.arguments[i], layout.argument_offsets[i], rng, packed);
  }
}

void InputPool::SpliceTensor(const TensorSpec& tensor, std::size_t at, Rng& rng,
                             std::span<std::byte> packed) const {
  std::byte* to = packed.data() + at;
  if (!IsFloating(tensor.dtype) || tensor.role == TensorRole::kConstant) {
    std::memcpy(to, set(rng.Below(drawn_)).data() + at, tensor.bytes());
    return;
  }
  const bool flip = HasBothSigns(tensor, set(0).data() + at);
  const std::size_t count = tensor.elements();
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t length = kMinPiece + rng.Below(2 * count / kPieces + kMinPiece);
    const std::size_t end = std::min(count, begin + length);
    const double sign = flip && rng.Below(2) == 1 ? -1.0 : 1.0;
    const std::byte* from = set(rng.Below(drawn_)).data() + at;
    ScaleAny(tensor.dtype, {from, to, begin, end, sign * (0.5 + 0.5 * rng.Uniform())});
    begin = end;
  }
}

}  // namespace pragma
