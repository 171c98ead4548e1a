"""The parts of an operator's C++ that are the same for every kernel. Words in single braces are filled in by
operator_text.py."""

HEAD = """\
// The operator pragma_kernels::{name}. It was written by `pragma model`; the kernel itself is in {name}.cpp.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
#ifndef STABLE_TORCH_ERROR_CODE_CHECK  // Torch 2.11 has another name for it
#define STABLE_TORCH_ERROR_CODE_CHECK TORCH_ERROR_CODE_CHECK
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {{

using torch::stable::Tensor;

constexpr std::uint32_t kThreads = {threads};
constexpr std::size_t kScratchBytes = {scratch_bytes};
constexpr std::size_t kAlignment = 64;

// What the run time reads: how often the kernel ran, and how many tensors were copied to be contiguous and aligned.
struct Counts {{
  std::atomic<std::int64_t> calls{{0}};
  std::atomic<std::int64_t> copies{{0}};
}};
Counts counts;

// A tensor that the kernel takes or makes.
struct Spec {{
  const char* name;
  std::int32_t (*dtype)();
  const char* dtype_name;
  std::vector<std::int64_t> sizes;
}};

// An argument: `copy` owns the memory where the tensor given could not be used as it is.
struct Value {{
  const void* data;
  const void* given;  // where the caller's tensor lies
  std::size_t bytes;
  std::shared_ptr<Tensor> copy;
}};

struct Made {{
  Tensor tensor;
  void* data;
}};

[[noreturn]] void Refuse(const std::string& reason, const std::string& found) {{
  throw std::runtime_error("pragma_kernels: " + reason + ": " + found);
}}

template <typename Sizes>
std::string SizesText(const Sizes& sizes) {{
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return "[" + text + "]";
}}

bool Aligned(const void* data) {{ return reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0; }}

void CheckThreads() {{
  std::uint32_t threads = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_get_num_threads(&threads));
  if (threads != kThreads) {{
    Refuse("threads", "Torch has " + std::to_string(threads) + ", the kernel needs " + std::to_string(kThreads));
  }}
}}

void CheckTensor(const Tensor& tensor, const Spec& spec) {{
  const std::string name = spec.name;
  std::int32_t found = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &found));
  if (found != aoti_torch_device_type_cpu()) Refuse("device", name + " is not on the CPU");
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_layout(tensor.get(), &found));
  if (found != aoti_torch_layout_strided()) Refuse("tensor type", name + " is not a dense tensor");
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &found));
  if (found != spec.dtype()) Refuse("dtype", name + " is not " + spec.dtype_name);
  const auto sizes = tensor.sizes();
  if (!std::equal(sizes.begin(), sizes.end(), spec.sizes.begin(), spec.sizes.end())) {{
    Refuse("shape", name + " is " + SizesText(sizes) + ", not " + SizesText(spec.sizes));
  }}
}}

// Returns new memory for a tensor, contiguous, from Torch's allocator.
Made New(const Spec& spec) {{
  std::array<std::int64_t, 64> strides;  // Torch has no tensors of more dimensions
  std::int64_t step = 1;
  for (std::size_t i = spec.sizes.size(); i-- > 0;) {{
    strides[i] = step;
    step *= std::max<std::int64_t>(spec.sizes[i], 1);
  }}
  AtenTensorHandle handle = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(static_cast<std::int64_t>(spec.sizes.size()),
                                                         spec.sizes.data(), strides.data(), spec.dtype(),
                                                         aoti_torch_device_type_cpu(), 0, &handle));
  Tensor tensor(handle);
  void* data = tensor.mutable_data_ptr();
  if (!Aligned(data)) throw std::runtime_error("Torch's allocator returned memory that is not aligned to 64 bytes");
  return {{std::move(tensor), data}};
}}

// Returns the tensor's memory, or that of a copy: kernels read contiguous and aligned memory only.
Value Ready(const Tensor& tensor, const Spec& spec) {{
  CheckTensor(tensor, spec);
  const std::size_t bytes = static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
  const void* data = tensor.const_data_ptr();
  if (data == nullptr && bytes > 0) Refuse("tensor type", std::string(spec.name) + " has no memory");
  if (tensor.is_contiguous() && Aligned(data)) return {{data, data, bytes, nullptr}};
  Made made = New(spec);
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_copy_(made.tensor.get(), tensor.get(), 0));
  counts.copies.fetch_add(1, std::memory_order_relaxed);
  return {{made.data, data, bytes, std::make_shared<Tensor>(std::move(made.tensor))}};
}}

// Each thread keeps its scratch memory between calls: the page faults of new memory can cost more than a kernel.
void* Scratch() {{
  if constexpr (kScratchBytes == 0) return nullptr;
  struct Free {{
    void operator()(void* memory) const {{ std::free(memory); }}
  }};
  thread_local std::unique_ptr<void, Free> kept;
  if (kept == nullptr) {{
    kept.reset(std::aligned_alloc(kAlignment, (kScratchBytes + kAlignment - 1) / kAlignment * kAlignment));
    if (kept == nullptr) throw std::bad_alloc();
  }}
  return kept.get();
}}

}}  // namespace
"""

PACKING = """\
constexpr std::size_t kPackedBytes = {packed_bytes};
constexpr std::array<int, {count}> kParameters{{{parameters}}};

// 64 bits that depend on every byte and on its place. They tell contents apart that are written by honest programs; they
// are no defence against one that looks for two contents with equal sums.
std::uint64_t Round(std::uint64_t sum, std::uint64_t word) {{
  sum += word * 0xC2B2AE3D27D4EB4FULL;
  return ((sum << 31) | (sum >> 33)) * 0x9E3779B185EBCA87ULL;
}}

std::uint64_t BlockSum(const std::byte* data, std::size_t bytes) {{
  std::array<std::uint64_t, 4> lanes{{1, 2, 3, 4}};  // independent, so that multiplications overlap
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) {{
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), data + at, 32);
    for (std::size_t i = 0; i < 4; ++i) lanes[i] = Round(lanes[i], words[i]);
  }}
  std::uint64_t sum = bytes;
  for (const std::uint64_t lane : lanes) sum = Round(sum, lane);
  for (; at < bytes; ++at) sum = Round(sum, static_cast<std::uint64_t>(data[at]));
  return sum;
}}

constexpr std::size_t kBlock = std::size_t{{1}} << 18;

// Torch's threads share the blocks, since one thread does not reach the memory's speed.
std::uint64_t ContentSum(const Value& value) {{
  struct Work {{
    const std::byte* data;
    std::size_t bytes;
    std::vector<std::uint64_t> sums;
  }};
  Work work{{static_cast<const std::byte*>(value.data), value.bytes, {{}}}};
  work.sums.resize((value.bytes + kBlock - 1) / kBlock);
  const auto sum_blocks = [](std::int64_t begin, std::int64_t end, void* context) {{
    Work& all = *static_cast<Work*>(context);
    for (std::int64_t i = begin; i < end; ++i) {{
      const std::size_t start = static_cast<std::size_t>(i) * kBlock;
      all.sums[static_cast<std::size_t>(i)] = BlockSum(all.data + start, std::min(kBlock, all.bytes - start));
    }}
  }};
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_parallel_for(0, static_cast<std::int64_t>(work.sums.size()), 1, sum_blocks, &work));
  std::uint64_t sum = value.bytes;
  for (const std::uint64_t block : work.sums) sum = Round(sum, block);
  return sum;
}}

// What pragma_prepare made of the parameters that lay at `places` and had the sum `sum`.
struct Pack {{
  std::array<const void*, {count}> places;
  std::uint64_t sum;
  std::shared_ptr<std::byte> memory;
}};

// Packs, the one used last in front: at most as many as there are modules that use the kernel.
struct Packs {{
  std::mutex mutex;
  std::list<Pack> list;
  std::size_t most = 0;
}};
Packs packs;

std::shared_ptr<std::byte> NewPack(const std::array<Value, {count}>& values) {{
  const std::size_t bytes = (kPackedBytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  std::shared_ptr<std::byte> pack(memory, [](std::byte* pointer) {{ std::free(pointer); }});
  pragma_prepare({pointers}pack.get());
  return pack;
}}

// Returns the pack kept for these places if the content is still the same, else null.
std::shared_ptr<std::byte> Kept(const std::array<const void*, {count}>& places, std::uint64_t sum) {{
  const std::lock_guard lock(packs.mutex);
  const auto found =
      std::find_if(packs.list.begin(), packs.list.end(), [&](const Pack& pack) {{ return pack.places == places; }});
  if (found == packs.list.end() || found->sum != sum) return nullptr;
  packs.list.splice(packs.list.begin(), packs.list, found);
  return found->memory;
}}

void Keep(Pack pack) {{
  const std::lock_guard lock(packs.mutex);
  packs.list.remove_if([&](const Pack& other) {{ return other.places == pack.places; }});
  packs.list.push_front(std::move(pack));
  while (packs.list.size() > std::max<std::size_t>(packs.most, 1)) packs.list.pop_back();
}}

// Another thread may replace a pack meanwhile. The caller's stays alive as long as it is held.
std::shared_ptr<std::byte> PackedFor(const Value* arguments) {{
  std::array<Value, {count}> values;
  std::array<const void*, {count}> places;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {{
    values[i] = arguments[kParameters[i]];
    places[i] = values[i].given;
    sum = Round(sum, ContentSum(values[i]));
  }}
  std::shared_ptr<std::byte> pack = Kept(places, sum);
  if (pack == nullptr) {{
    pack = NewPack(values);
    Keep({{places, sum, pack}});
  }}
  return pack;
}}

}}  // namespace

// Says how many more (or fewer) modules use the kernel.
extern "C" void pragma_operator_modules(std::int64_t more) {{
  const std::lock_guard lock(packs.mutex);
  packs.most += static_cast<std::size_t>(more);
  while (packs.list.size() > packs.most) packs.list.pop_back();
}}

extern "C" std::int64_t pragma_operator_packs() {{
  const std::lock_guard lock(packs.mutex);
  return static_cast<std::int64_t>(packs.list.size());
}}

namespace {{
"""

CALL = """\
{result} Call({parameters}) {{
  CheckThreads();
{check}  const std::array<Value, {count}> values{{{{{values}}}}};
{packed}{made}
  pragma_kernel({pointers});
  counts.calls.fetch_add(1, std::memory_order_relaxed);
  return {returned};
}}
"""

DROP_TENSORS = """\
for (std::uint64_t i = 0; i < count; ++i) {
    aoti_torch_delete_tensor_object(torch::stable::detail::to<AtenTensorHandle>(stack[i]));
  }"""
DROP_LIST = "torch::stable::detail::to<std::vector<Tensor>>(stack[0]);"

REGISTRATION = """\
// Modes of Torch in which the original forward must run have a dispatch key each, and the operator throws there. So an
// ordinary call does not pay for asking about them.
void Drop(StableIValue* stack, [[maybe_unused]] std::uint64_t count) {{
  {drop}
}}

void InAutocast(StableIValue* stack, std::uint64_t count, std::uint64_t /*results*/) {{
  Drop(stack, count);
  Refuse("autocast", "autocast is on");
}}

void InTracing(StableIValue* stack, std::uint64_t count, std::uint64_t /*results*/) {{
  Drop(stack, count);
  Refuse("tensor type", "torch.jit is tracing");
}}

void InTransform(StableIValue* stack, std::uint64_t count, std::uint64_t /*results*/) {{
  Drop(stack, count);
  Refuse("tensor type", "a transform of torch.func is active");
}}

STABLE_TORCH_LIBRARY_FRAGMENT(pragma_kernels, m) {{ m.def("{schema}"); }}
STABLE_TORCH_LIBRARY_IMPL(pragma_kernels, CPU, m) {{ m.impl("{name}", TORCH_BOX(&Call)); }}
STABLE_TORCH_LIBRARY_IMPL(pragma_kernels, AutocastCPU, m) {{ m.impl("{name}", &InAutocast); }}
STABLE_TORCH_LIBRARY_IMPL(pragma_kernels, Tracer, m) {{ m.impl("{name}", &InTracing); }}
STABLE_TORCH_LIBRARY_IMPL(pragma_kernels, FuncTorchDynamicLayerFrontMode, m) {{ m.impl("{name}", &InTransform); }}

}}  // namespace

extern "C" std::int64_t pragma_operator_calls() {{ return counts.calls.load(std::memory_order_relaxed); }}
extern "C" std::atomic<std::int64_t>* pragma_operator_copies() {{ return &counts.copies; }}
"""
