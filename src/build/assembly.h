// Assembly: the output of a compiler for one candidate, as instructions, basic blocks and loops. It
// handles x86-64 in AT&T syntax, as g++ and clang++ write it with -S -g1 -fPIC. The text is
// untrusted. Text that is not understood stays in `lines` and is left unchanged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct Instruction {
  std::string prefix;    // lock, rep, notrack, ...; the last one if there are several, usually
                         // empty
  std::string mnemonic;  // mnemonic in lower case
  std::vector<std::string> operands;
  std::size_t text_line = 0;  // index in Assembly::lines; the line of its first prefix, if that has
                              // a line of its own
  int source_line = 0;        // latest line of kernel.cpp in this function; 0: none yet
};

// Block: a sequence of instructions that is entered only at its first one. A call ends a block
// where the function catches exceptions.
struct Block {
  std::string function;   // a part that the compiler moved away (".cold") counts as the same
                          // function
  std::string label;      // may be empty
  std::size_t first = 0;  // instructions [first, end)
  std::size_t end = 0;
  std::vector<int> source_lines;        // ascending, without 0
  std::vector<std::size_t> successors;  // blocks of the same function, ascending
  bool unknown_successors = false;      // true: an indirect jump whose targets were not found
};

struct Assembly {
  std::vector<std::string> lines;  // one statement each
  std::vector<Instruction> instructions;
  std::vector<Block> blocks;               // in the order of the text
  std::vector<std::string> code_sections;  // directives that name code sections, each section once
};

// Loop: a natural loop, which is entered only through its header. Loops that share a header are one
// loop.
struct Loop {
  std::string function;
  std::size_t header = 0;
  std::vector<std::size_t> blocks;  // ascending; includes the header and the blocks of inner loops
  bool innermost = true;
  int depth = 1;  // 1: it is in no other loop
};

// Returns whether this instrumentation supports the processor that this program runs on.
[[nodiscard]] bool CanInstrument();

// Parses a text. It never fails: text that is not assembly has no blocks.
[[nodiscard]] Assembly ParseAssembly(std::string_view text);

// Finds loops by dominators, function by function. Outer loops come before the loops inside them.
[[nodiscard]] std::vector<Loop> FindLoops(const Assembly& assembly);

[[nodiscard]] bool IsConditionalJump(std::string_view mnemonic);
[[nodiscard]] bool IsJump(std::string_view mnemonic);  // unconditional jumps only
[[nodiscard]] bool IsCall(std::string_view mnemonic);
[[nodiscard]] bool IsReturn(std::string_view mnemonic);

// Returns the name that a call, or a jump that leaves the function for good, refers to: "expf" for
// "expf@PLT" and for "*expf@GOTPCREL(%rip)". Empty when it goes through a register or another
// memory operand.
[[nodiscard]] std::string CalledName(const Instruction& instruction);
// Returns whether the instruction is a call, or a jump to another function that replaces one.
[[nodiscard]] bool IsCallOrTailCall(const Instruction& instruction);

}  // namespace pragma
