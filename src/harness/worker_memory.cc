#include "harness/worker_memory.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "core/task.h"
#include "harness/ring.h"
#include "task/doorbell.h"
#include "task/set_layout.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

std::size_t Aligned(std::size_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

// Rounds up to whole pages. The packed areas begin on their own page, because the kernel may only
// read them.
std::size_t WholePages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// Makes the control page with the layout that worker.c reads.
Result<Doorbell> MakeControl(const Task& task, const Ring& ring, const BuiltKernel& kernel,
                             std::size_t output_bytes, std::size_t scratch_total) {
  const Placement& place = ring.placement();
  // A Python candidate (ModelNew) gets no sizes argument: it learns sizes from its tensors.
  const std::size_t dims = place.dims.empty() || kernel.python != nullptr ? 0 : 1;
  const std::size_t arguments = dims + task.arguments.size();
  const std::size_t words = place.sets * (arguments + task.outputs.size()) +
                            place.input_guards.size() + place.output_guards.size();
  Doorbell doorbell = TRY(Doorbell::Create(words));
  pragma_control& page = doorbell.page();
  page.set_count = static_cast<std::uint32_t>(place.sets);
  page.argument_count = static_cast<std::uint32_t>(arguments);
  page.has_dims = static_cast<std::uint32_t>(dims);
  page.output_count = static_cast<std::uint32_t>(task.outputs.size());
  page.parameter_count = static_cast<std::uint32_t>(std::ranges::count_if(
      task.arguments, [](const TensorSpec& tensor) { return tensor.role != TensorRole::kInput; }));
  page.input_bytes = ring.inputs().size();
  page.output_bytes = output_bytes;
  page.scratch_bytes = scratch_total;
  page.seal_data = kernel.python == nullptr && kernel.seal_data ? 1 : 0;
  page.packed_bytes = kernel.has_prepare ? std::max<std::size_t>(kernel.packed_bytes, 1) : 0;
  page.packed_offset = WholePages(kernel.scratch_bytes);
  page.packed_stride = Aligned(page.packed_bytes);
  page.input_guard_count = static_cast<std::uint32_t>(place.input_guards.size());
  page.output_guard_count = static_cast<std::uint32_t>(place.output_guards.size());
  std::uint64_t* word = pragma_offsets(&page);
  for (std::size_t set = 0; set < place.sets; ++set) {
    if (dims != 0) *word++ = place.dims[set];
    word = std::ranges::copy(place.arguments[set], word).out;
    word = std::ranges::copy(place.outputs[set], word).out;
  }
  word = std::ranges::copy(place.input_guards, word).out;
  std::ranges::copy(place.output_guards, word);
  return doorbell;
}

// Returns one OpenMP place for each processor that we may use, such as "{0},{1}". The places are
// spelled out because in the jail the library has no /sys in which to look them up.
std::string OpenMpPlaces() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof(allowed), &allowed);
  std::string places;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &allowed)) continue;
    places += (places.empty() ? "{" : ",{") + std::to_string(i) + "}";
  }
  return places;
}

}  // namespace

Result<WorkerMemory> MakeWorkerMemory(const Task& task, const Ring& ring,
                                      const BuiltKernel& kernel) {
  SharedMemory outputs = TRY(SharedMemory::Create("pragma-outputs", ring.placement().output_bytes));
  const std::size_t stride =
      kernel.has_prepare ? Aligned(std::max<std::size_t>(kernel.packed_bytes, 1)) : 0;
  SharedMemory scratch = TRY(SharedMemory::Create(
      "pragma-scratch", WholePages(kernel.scratch_bytes) + stride * ring.sets()));
  for (SharedMemory* memory : {&outputs, &scratch}) {
    if (auto sealed = memory->Seal(SealKind::kSizeOnly); !sealed)
      return std::unexpected(sealed.error());
  }
  Doorbell control = TRY(MakeControl(task, ring, kernel, outputs.size(), scratch.size()));
  return WorkerMemory{
      .outputs = std::move(outputs), .scratch = std::move(scratch), .control = std::move(control)};
}

std::map<std::string, std::string> OpenMpEnvironment(int threads, bool bound, int thread_limit) {
  std::map<std::string, std::string> environment{{"OMP_NUM_THREADS", std::to_string(threads)},
                                                 {"OMP_DYNAMIC", "false"}};
  if (thread_limit > 0) environment["OMP_THREAD_LIMIT"] = std::to_string(thread_limit);
  if (bound) {
    // Bind one thread to each processor, as on every timed side. Unbound, two threads share a
    // processor for milliseconds after a thaw.
    environment["OMP_PROC_BIND"] = "true";
    environment["OMP_PLACES"] = OpenMpPlaces();
  } else {
    // There may be more threads than processors, and LLVM's threads spin for 200 ms before they
    // sleep.
    environment["OMP_WAIT_POLICY"] = "passive";
  }
  return environment;
}

}  // namespace pragma
