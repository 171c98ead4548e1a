#include "agent/language_words.h"

#include <cassert>

#include "core/candidate.h"

namespace pragma {
namespace {

constexpr LanguageWords kCppWords{
    .language = "C++",
    .processors = "CPUs",
    .product = "C++ kernel",
    .processor = "CPU",
    .fence = "cpp",
    .comment = "//",
    .whole_file = "the whole C++ source file, defining `pragma_kernel` as `kernel.h` declares it",
    .first_structure = "the right loop structure, vectorisation and threads",
    .change_terms =
        "loop order, tile sizes, vector width, which index is parallel, what is kept in "
        "registers, flags",
    .plan_terms = "the index arithmetic, tile sizes, loop order, and flags",
    .library_ideas = "packing, register tiles, blocking for caches, vector code",
    .side_changes = "an include, the flags line, the size of the scratch buffer",
    .first_goal =
        "Write the kernel: correct first, and then as fast as you can make it, with vectorised "
        "inner loops, all threads, and as little memory traffic as possible.",
    .faster_goal =
        "Make the version above faster. Decide what costs most now (arithmetic, memory traffic, "
        "latency, threads), change that, keep it correct, and return the whole file."};

constexpr LanguageWords kCudaWords{
    .language = "CUDA C++",
    .processors = "NVIDIA GPUs",
    .product = "CUDA kernel",
    .processor = "GPU",
    .fence = "cuda",
    .comment = "//",
    .whole_file = "the whole CUDA source file, defining `pragma_launch` as `kernel.h` declares it",
    .first_structure = "the right mapping of work to blocks and threads and coalesced accesses",
    .change_terms =
        "what a block and a thread compute, block and grid sizes, tiles, what is kept in "
        "shared memory and in registers, widths of accesses, flags",
    .plan_terms = "the index arithmetic, tile sizes, launch dimensions, and flags",
    .library_ideas =
        "shared-memory and register tiles, coalesced and vector accesses, warp reductions, fused "
        "passes",
    .side_changes = "an include, the flags line, the launch, the size of the scratch buffer",
    .first_goal =
        "Write the kernel: correct first, and then as fast as you can make it, with coalesced "
        "accesses, enough blocks to fill the GPU, as few launches and as little memory traffic as "
        "possible.",
    .faster_goal =
        "Make the version above faster. Decide what costs most now (arithmetic, memory traffic, "
        "latency, occupancy, launches), change that, keep it correct, and return the whole file."};

constexpr LanguageWords kTritonWords{
    .language = "Triton",
    .processors = "NVIDIA GPUs",
    .product = "Triton kernel",
    .processor = "GPU",
    .fence = "python",
    .comment = "#",
    .whole_file = "the whole Python module, with its Triton kernels and `run`",
    .first_structure = "the right mapping of work to programs and contiguous accesses",
    .change_terms =
        "what a program computes, block sizes, the order of programs, num_warps and num_stages, "
        "which of them autotuning tries",
    .plan_terms = "the offsets and masks, block sizes, grid, and configurations",
    .library_ideas =
        "tiles kept in registers, contiguous accesses, split reductions, fused passes, programs "
        "ordered for the cache",
    .side_changes = "an import, a decorator, the launch in `run`",
    .first_goal =
        "Write the kernel: correct first, and then as fast as you can make it, with contiguous "
        "accesses, enough programs to fill the GPU, as few launches and as little memory traffic "
        "as possible.",
    .faster_goal =
        "Make the version above faster. Decide what costs most now (arithmetic, memory traffic, "
        "latency, occupancy, launches), change that, keep it correct, and return the whole file."};

}  // namespace

const LanguageWords& WordsOf(Language language) {
  assert(language != Language::kPython);
  if (language == Language::kCuda) return kCudaWords;
  return language == Language::kTriton ? kTritonWords : kCppWords;
}

}  // namespace pragma
