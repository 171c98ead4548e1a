// Assembly: what a compiler wrote for one candidate, as instructions, basic blocks and loops. For
// x86-64 in AT&T syntax, as g++ and clang++ write it with -S -g1 -fPIC. The text is foreign: what
// is not understood stays in `lines` and is left alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct Instruction {
  std::string prefix;    // lock, rep, notrack, ...; the last one, mostly empty
  std::string mnemonic;  // lower case
  std::vector<std::string> operands;
  std::size_t text_line = 0;  // index in Assembly::lines; of its first prefix, if that stands alone
  int source_line = 0;        // of kernel.cpp, the latest in this function; 0: none yet
};

// A run of instructions that is entered at its first only. A call ends it where the function
// catches exceptions.
struct Block {
  std::string function;  // the part of it that the compiler moved away (".cold") counts as the same
  std::string label;     // may be empty
  std::size_t first = 0;  // instructions [first, end)
  std::size_t end = 0;
  std::vector<int> source_lines;        // ascending, without 0
  std::vector<std::size_t> successors;  // blocks of the same function, ascending
  bool unknown_successors = false;      // an indirect jump whose targets were not found
};

struct Assembly {
  std::vector<std::string> lines;  // one statement each
  std::vector<Instruction> instructions;
  std::vector<Block> blocks;               // in the order of the text
  std::vector<std::string> code_sections;  // the directives that name them, each section once
};

// Natural loop: entered only through its header. Those that share a header are one.
struct Loop {
  std::string function;
  std::size_t header = 0;
  std::vector<std::size_t> blocks;  // ascending, with the header and with those of inner loops
  bool innermost = true;
  int depth = 1;  // 1: in no other loop
};

// Whether the instrumentation here is for the processor that this program runs on.
[[nodiscard]] bool CanInstrument();

// Never fails: text that is no assembly has no blocks.
[[nodiscard]] Assembly ParseAssembly(std::string_view text);

// By dominators, function by function; outer loops before the loops inside them.
[[nodiscard]] std::vector<Loop> FindLoops(const Assembly& assembly);

[[nodiscard]] bool IsConditionalJump(std::string_view mnemonic);
[[nodiscard]] bool IsJump(std::string_view mnemonic);  // unconditional
[[nodiscard]] bool IsCall(std::string_view mnemonic);
[[nodiscard]] bool IsReturn(std::string_view mnemonic);

// What a call, or a jump that leaves the function for good, names: "expf" of "expf@PLT" and of
// "*expf@GOTPCREL(%rip)"; empty when it goes through a register or another memory operand.
[[nodiscard]] std::string CalledName(const Instruction& instruction);
// A call, or a jump to another function in its place.
[[nodiscard]] bool IsCallOrTailCall(const Instruction& instruction);

}  // namespace pragma
