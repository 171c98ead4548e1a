// Likely causes of failures on a GPU.
#include <array>
#include <span>

#include "agent/causes.h"
#include "core/status.h"

namespace pragma {
namespace {

constexpr std::array kGpuCauses{
    Cause{
        Status::kCrashed, "illegal memory access",
        "A read or write outside a tensor: guard the last block, and compute large index products "
        "in 64 bits."},
    Cause{Status::kCrashed, "",
          "A write to an input or parameter, which are read-only: use memory of your own."},
    Cause{Status::kTimeout, "",
          "An endless loop, threads that wait for one another, or far too much work for each "
          "thread: check loop bounds, and spread the work over more blocks."},
    Cause{Status::kOutOfMemory, "",
          "Too much working memory: fuse steps, or process in tiles that stay on the chip."},
    Cause{Status::kWrongValues, "nan",
          "NaN where the reference has none: an output or accumulator that was never set (outputs "
          "arrive full of garbage), exp without subtracting the maximum, 0/0, or the square root "
          "of a small negative number."},
    Cause{Status::kWrongValues, "poison",
          "Some outputs were never written: the grid is too small, or the last block is missing."},
    Cause{
        Status::kWrongValues, "",
        "A wrong index, stride or operand order: compare strides with the shapes of the arguments "
        "(for a Linear layer the weight is [out, in]; for a transposed convolution [in, "
        "out/groups, k...]), and check padding, dilation and the last partial tile. The index of "
        "the worst element says where to look."},
    Cause{Status::kWrongValues, "",
          "Accumulating into an output that was not cleared first, or a race between the blocks "
          "that write it."},
    Cause{Status::kWrongValues, "",
          "If the error is small but too large: TF32 or 16-bit products, fast approximations of "
          "exp, log, tanh or division, or a variance as E[x^2] - E[x]^2."},
    Cause{Status::kWrongShape, "", "Sizes or types of the outputs do not fit those asked for."},
    kFasterThanMemory,
    Cause{Status::kUnsupported, "",
          "The last reply held no usable code: a plain, correct kernel is better than none."}};

constexpr std::array kCudaCauses{
    Cause{Status::kCompileError, "is undefined",
          "A name is unknown: a missing include (<cuda_fp16.h>, <mma.h>, <cfloat>), a missing "
          "task::, or an intrinsic that does not exist; look it up or write it out."},
    Cause{Status::kCompileError, "is not allowed",
          "A __host__ function, or a host array such as task::x_dims, is used in device code: copy "
          "sizes into a constexpr of your own, and mark helpers __device__."},
    Cause{Status::kCompileError, "too much shared data",
          "More than 48 KiB of static shared memory: make it extern __shared__, and raise "
          "cudaFuncAttributeMaxDynamicSharedMemorySize before the launch."},
    Cause{Status::kCompileError, "no such file",
          "A header is not available: only those listed under Rules are."},
    kFirstErrorFirst,
    kFlagNotAllowed,
    Cause{Status::kRejectedSource, "cuda",
          "The host's part calls a function that it may not: it launches kernels on `stream` and "
          "returns; working memory is `scratch`."},
    Cause{Status::kRejectedSource, "",
          "The source uses something outside the rules: replace the named construct."},
    Cause{Status::kLoadError, "",
          "pragma_launch was not found with C linkage: define it with exactly the name and the "
          "parameters in kernel.h, not static and not in a namespace."},
    Cause{Status::kCrashed, "invalid argument",
          "A launch asks for what cannot be had: more than 1024 threads, a grid of 0 or above the "
          "limits, or dynamic shared memory beyond 48 KiB without cudaFuncSetAttribute."},
    Cause{Status::kCrashed, "resources",
          "A block needs more registers or shared memory than there are: state "
          "__launch_bounds__ with the true block size, or take smaller blocks and tiles."},
    Cause{Status::kCrashed, "misaligned",
          "A float4 (or other wide) access at an address that is not a multiple of its size: rows "
          "whose length is not a multiple of 4 are not aligned."},
    Cause{Status::kCrashed, "",
          "A read or write outside a tensor or a shared tile: check the guard of the last block, "
          "padding at the borders, and 32-bit overflow in index products."},
    Cause{Status::kSandboxViolation, "",
          "A forbidden system call: the host's part may only launch kernels."},
    Cause{Status::kNondeterministic, "",
          "Results differ between equal calls: a missing __syncthreads() or __syncwarp(), two "
          "blocks that write one place, or memory that is read before it is written."}};

constexpr std::array kTritonCauses{
    Cause{Status::kRejectedSource, "host",
          "The host's part computes with torch: only shapes, views, torch.empty, torch.zeros and "
          "launches are allowed there; move the work into a kernel."},
    Cause{Status::kRejectedSource, "",
          "The module uses something outside the rules: replace the named construct."},
    Cause{Status::kCompileError, "",
          "Python does not parse the module: repair the line shown, and return the whole file."},
    Cause{Status::kLoadError, "parameters",
          "run must take the arguments shown under Interface: inputs, parameters, then outputs."},
    Cause{Status::kLoadError, "",
          "The module cannot be loaded: check the imports and the top level."},
    Cause{Status::kCrashed, "power of 2",
          "A block dimension is not a power of two: triton.next_power_of_2(n) and a mask."},
    Cause{Status::kCrashed, "constexpr",
          "A block size must be a tl.constexpr parameter passed by keyword, and a constant of the "
          "module that a kernel reads a tl.constexpr(...)."},
    Cause{Status::kCrashed, "out of resource",
          "Too much shared memory for a block: fewer num_stages first, then a smaller tile."},
    Cause{Status::kCrashed, "compilationerror",
          "Triton does not compile the kernel: no break, continue or indexing of blocks, types and "
          "shapes of loop variables stay the same, blocks of tl.dot are at least 16 wide."},
    Cause{Status::kCrashed, "",
          "A read or write outside a tensor: every tl.load and tl.store whose block may reach past "
          "the end needs its mask, and large offsets tl.int64."},
    Cause{Status::kSandboxViolation, "",
          "A forbidden system call: the module may only launch its kernels."},
    Cause{Status::kNondeterministic, "",
          "Results differ between equal calls: two programs write one place, atomics add to what "
          "was not cleared, or an autotuned kernel that accumulates lacks reset_to_zero."}};

}  // namespace

std::span<const Cause> GpuCauses() { return kGpuCauses; }
std::span<const Cause> CudaCauses() { return kCudaCauses; }
std::span<const Cause> TritonCauses() { return kTritonCauses; }

}  // namespace pragma
