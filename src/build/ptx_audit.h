// The audit of a CUDA candidate's device code: what its PTX reads, and where it can keep data.
//
// ptxas makes the machine code from the PTX alone. The PTX is fully expanded: anything that the
// source composes from parts (macros, inline assembly in several string literals) appears there in
// one piece.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "build/elf_file.h"

namespace pragma {

// PtxVariable: a variable of device code that outlives a launch.
struct PtxVariable {
  std::string name;  // name as PTX writes it
  std::size_t bytes = 0;
  bool constant = false;   // in .const: only host code can write it
  bool only_read = false;  // its address is used only by loads
};

// PtxFacts: what the PTX text shows. The text is untrusted. Anything that is not PTX of a compiler
// gives a complaint.
struct PtxFacts {
  std::string complaint;  // one line: what it reads without permission, and what to do; empty:
                          // nothing is wrong
  std::vector<PtxVariable> variables;
  std::vector<std::string> entries;  // names of kernels
  bool has_heap = false;             // true: device code calls malloc
  std::size_t local_bytes = 0;       // largest local memory per thread that one function declares
};

[[nodiscard]] PtxFacts ReadPtx(std::string_view text);

// Bytes of a thread's local memory that are filled with random bytes before a checked call
// (python/pragma_triton/scramble.ptx). Local memory beyond them keeps its contents.
inline constexpr std::size_t kScrambledLocalBytes = 65536;

// Returns, in words, the places where a CUDA candidate could keep data from one call to the next
// (BuiltKernel::kept).
[[nodiscard]] std::vector<std::string> CudaKept(const PtxFacts& device, const ElfFile& host,
                                                std::size_t scratch_bytes);
// Returns the names of the variables that KEPT_READ and KEPT_WRITE copy, in their order.
[[nodiscard]] std::vector<std::string> KeptVariables(const PtxFacts& device);

}  // namespace pragma
