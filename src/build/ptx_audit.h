// The audit of a CUDA candidate's device code: what its PTX reads, and where it can keep anything.
//
// PTX is all that ptxas makes machine code from, and it is fully expanded: whatever the source
// pieces together (macros, inline assembly in several string literals) stands there in one piece.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "build/elf_file.h"

namespace pragma {

// A variable of device code that outlives a launch.
struct PtxVariable {
  std::string name;  // as PTX has it
  std::size_t bytes = 0;
  bool constant = false;   // .const: only host code can write it
  bool only_read = false;  // its address goes nowhere but into loads
};

// What can be seen in the text. Foreign: whatever is no PTX of a compiler's is a complaint.
struct PtxFacts {
  std::string complaint;  // one line: what it reads that it may not, and what to do; empty: fine
  std::vector<PtxVariable> variables;
  std::vector<std::string> entries;  // names of kernels
  bool has_heap = false;             // malloc in device code
  std::size_t local_bytes = 0;       // most declared by one function for a thread
};

[[nodiscard]] PtxFacts ReadPtx(std::string_view text);

// Local memory of a thread that is filled with random bytes before a checked call
// (python/pragma_triton/scramble.ptx); what is beyond keeps what it holds.
inline constexpr std::size_t kScrambledLocalBytes = 65536;

// Where a CUDA candidate could keep something from one call to the next, in words
// (BuiltKernel::kept).
[[nodiscard]] std::vector<std::string> CudaKept(const PtxFacts& device, const ElfFile& host,
                                                std::size_t scratch_bytes);
// Names of what KEPT_READ and KEPT_WRITE copy, in their order.
[[nodiscard]] std::vector<std::string> KeptVariables(const PtxFacts& device);

}  // namespace pragma
