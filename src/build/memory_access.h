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

// MemoryAccess: the one memory operand that an instruction may have. Implicit accesses of push,
// pop, call, ret and string instructions are not included.
struct MemoryAccess {
  AccessKind kind = AccessKind::kNone;
  std::size_t operand = 0;  // index of that operand
  int bytes = 0;            // bytes of one access, masked lanes included; for a gather: of all its
                            // elements
  bool gather = false;      // gather or scatter: several addresses
  bool masked = false;
  bool non_temporal = false;  // a non-temporal (streaming) store, which bypasses the caches
};

[[nodiscard]] MemoryAccess AccessOf(const Instruction& instruction);

// Address: the parts of "%fs:8+x(%rax,%rcx,4){1to8}".
struct Address {
  std::string segment;       // "fs"
  std::string displacement;  // "8+x"
  std::string base;          // "rax"
  std::string index;         // "rcx"; "zmm1" in a gather
  int scale = 1;
};
[[nodiscard]] Address ParseAddress(std::string_view operand);
// Returns "(%rax)" for "(%rax){%k1}{z}".
[[nodiscard]] std::string_view WithoutBraces(std::string_view operand);
[[nodiscard]] bool IsMemoryOperand(std::string_view operand);

// Returns whether it is rep movs, stos or the like.
[[nodiscard]] bool IsStringInstruction(const Instruction& instruction);
// Returns the number of bytes that it moves per repetition.
[[nodiscard]] int StringElementBytes(const Instruction& instruction);

// Returns the mnemonic without the v of VEX and EVEX forms.
[[nodiscard]] std::string_view BaseName(std::string_view mnemonic);
// Returns the size in bytes of the widest vector register among the operands: 64, 32, 16, 8 (mmx),
// or 0.
[[nodiscard]] int VectorBytes(std::span<const std::string> operands);
// Returns the size in bytes of a general register: 8, 4, 2, 1; 0 for anything else.
[[nodiscard]] int RegisterBytes(std::string_view operand);
// Returns whether every lane reads the same element: "{1to16}".
[[nodiscard]] bool IsBroadcast(std::string_view operand);

// FloatForm: what the last letters of a floating-point mnemonic say, as in addps and addsd.
struct FloatForm {
  int element = 0;  // bytes; 0: it is not a floating-point mnemonic
  bool scalar = false;
};
[[nodiscard]] FloatForm FloatFormOf(std::string_view base_name);

// Returns the size in bytes of memory operand `operand` of an instruction that is neither gather
// nor scatter.
[[nodiscard]] int OperandBytes(const Instruction& instruction, std::size_t operand);

}  // namespace pragma
