// Mix: how much of each kind of work instructions do, by the tags of docs/metrics.md, "Work".
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
  std::uint64_t flops = 0;  // of issued lanes; a fused multiply-add is two
  std::uint64_t vector_flops = 0;
  std::uint64_t fma_flops = 0;
  std::uint64_t scalar_fp = 0;  // arithmetic instructions
  std::uint64_t vector_fp = 0;
  std::uint64_t fp_bits = 0;      // sum of the widths of both
  std::uint64_t multiplying = 0;  // of both, those that multiply
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t load_bytes = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t nt_stores = 0;
  std::uint64_t stack_accesses = 0;  // named by an operand without an index, as spills are
  std::uint64_t branches = 0;        // conditional
  std::uint64_t calls = 0;
  std::uint64_t divisions = 0;  // and square roots
  std::uint64_t conversions = 0;
  std::uint64_t shuffles = 0;
  std::uint64_t gathers = 0;  // and scatters
  std::uint64_t locked = 0;
  std::uint64_t string_bytes = 0;  // where the number is known

  void Add(const Mix& other, std::uint64_t times);
};

// Functions that address their stack frame through %rbp.
[[nodiscard]] std::set<std::string> FunctionsWithFramePointer(const Assembly& assembly);

// Of one instruction, executed once. `frame_pointer`: %rbp is one there.
[[nodiscard]] Mix MixOf(const Instruction& instruction, bool frame_pointer);

// What was executed, given how often each block was entered.
struct Work {
  Mix all;
  Mix in_loops;                                // the part of it in blocks of loops
  std::map<std::string, std::uint64_t> calls;  // by name; "": through a register
  std::uint64_t hot_instructions = 0;          // static ones that make up 90 % of all executed
};

// `counts` may be shorter than the blocks; the rest were not entered.
[[nodiscard]] Work TotalMix(const Assembly& assembly, std::span<const std::uint64_t> counts);

}  // namespace pragma
