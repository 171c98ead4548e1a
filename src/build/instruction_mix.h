// Mix: the amount of each kind of work that instructions do, by the tags of docs/metrics.md,
// "Work".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "build/assembly.h"

namespace pragma {

struct Mix {
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;  // over issued lanes; a fused multiply-add counts as two
  std::uint64_t vector_flops = 0;
  std::uint64_t fma_flops = 0;
  std::uint64_t scalar_fp = 0;  // number of arithmetic instructions
  std::uint64_t vector_fp = 0;
  std::uint64_t fp_bits = 0;      // sum of the widths of scalar_fp and vector_fp instructions
  std::uint64_t multiplying = 0;  // number of scalar_fp and vector_fp instructions that multiply
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t load_bytes = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t nt_stores = 0;
  std::uint64_t stack_accesses = 0;  // accesses by an operand without an index, as spills are
  std::uint64_t branches = 0;        // conditional branches
  std::uint64_t calls = 0;
  std::uint64_t divisions = 0;         // divisions and square roots
  std::uint64_t scalar_divisions = 0;  // those of single floating-point numbers
  std::uint64_t conversions = 0;
  std::uint64_t shuffles = 0;
  std::uint64_t gathers = 0;  // gathers and scatters
  std::uint64_t locked = 0;
  std::uint64_t string_bytes = 0;  // bytes of string instructions, where the number is known

  void Add(const Mix& other, std::uint64_t times);
};

// Returns the functions that address their stack frame through %rbp.
[[nodiscard]] std::set<std::string> FunctionsWithFramePointer(const Assembly& assembly);

// Returns the work of one instruction, executed once. `frame_pointer`: %rbp is the frame pointer
// there.
[[nodiscard]] Mix MixOf(const Instruction& instruction, bool frame_pointer);

// Work: what was executed, computed from how often each block was entered.
struct Work {
  Mix all;
  Mix in_loops;                                // part of `all` in blocks of loops
  std::map<std::string, std::uint64_t> calls;  // number of calls by name; "": through a register
  std::uint64_t hot_instructions = 0;          // number of static instructions that make up 90 % of
                                               // all executed ones
};

// Returns the work of a whole run. `counts` may be shorter than the list of blocks. The remaining
// blocks were not entered.
[[nodiscard]] Work TotalMix(const Assembly& assembly, std::span<const std::uint64_t> counts);

}  // namespace pragma
