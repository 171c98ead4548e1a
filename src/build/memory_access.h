// What an instruction does to memory through its operand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "build/assembly.h"

namespace pragma {

enum class AccessKind : std::uint8_t { kNone, kLoad, kStore, kLoadAndStore, kPrefetch };

// The one memory operand that an instruction may have. What push, pop, call, ret and string
// instructions do without naming it is not here.
struct MemoryAccess {
  AccessKind kind = AccessKind::kNone;
  std::size_t operand = 0;  // its index
  int bytes = 0;        // of one access, masked lanes included; of a gather: of all its elements
  bool gather = false;  // or scatter: several addresses
  bool masked = false;
  bool non_temporal = false;  // a store past the caches
};

[[nodiscard]] MemoryAccess AccessOf(const Instruction& instruction);

// "%fs:8+x(%rax,%rcx,4){1to8}" in its parts.
struct Address {
  std::string segment;       // "fs"
  std::string displacement;  // "8+x"
  std::string base;          // "rax"
  std::string index;         // "rcx"; "zmm1" in a gather
  int scale = 1;
};
[[nodiscard]] Address ParseAddress(std::string_view operand);
// "(%rax)" of "(%rax){%k1}{z}".
[[nodiscard]] std::string_view WithoutBraces(std::string_view operand);
[[nodiscard]] bool IsMemoryOperand(std::string_view operand);

// rep movs, stos and the like.
[[nodiscard]] bool IsStringInstruction(const Instruction& instruction);
// Bytes that it moves each time.
[[nodiscard]] int StringElementBytes(const Instruction& instruction);

// Without the v of VEX and EVEX forms.
[[nodiscard]] std::string_view BaseName(std::string_view mnemonic);
// Of the widest vector register among the operands: 64, 32, 16, 8 (mmx), or 0.
[[nodiscard]] int VectorBytes(std::span<const std::string> operands);
// Of a general register: 8, 4, 2, 1; 0 for anything else.
[[nodiscard]] int RegisterBytes(std::string_view operand);
// "{1to16}": every lane reads the same element.
[[nodiscard]] bool IsBroadcast(std::string_view operand);

// A floating-point mnemonic's last letters, as in addps and addsd.
struct FloatForm {
  int element = 0;  // bytes; 0: it is none
  bool scalar = false;
};
[[nodiscard]] FloatForm FloatFormOf(std::string_view base_name);

// Bytes of memory operand `operand` of an instruction that is neither gather nor scatter.
[[nodiscard]] int OperandBytes(const Instruction& instruction, std::size_t operand);

}  // namespace pragma
