#include "build/string_work.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "build/memory_access.h"

namespace pragma {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;  // a larger constant is not a size

std::optional<std::uint64_t> Constant(std::string_view operand) {
  if (!operand.starts_with('$')) return {};
  operand.remove_prefix(1);
  int base = 10;
  if (operand.starts_with("0x")) {
    operand.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const char* end = operand.data() + operand.size();
  const auto [at, error] = std::from_chars(operand.data(), end, value, base);
  if (error != std::errc() || at != end || value > kMost) return {};
  return value;
}

// Returns what the 64-bit register that ends in `letters` ("dx" for rdx) holds before instruction
// `at`, if the block moves a constant into it.
std::optional<std::uint64_t> Holds(const Assembly& assembly, const Block& block, std::size_t at,
                                   std::string_view letters) {
  for (std::size_t i = at; i-- > block.first;) {
    const Instruction& instruction = assembly.instructions[i];
    if (IsCall(instruction.mnemonic)) return {};
    const auto& operands = instruction.operands;
    if (operands.empty() || !operands.back().ends_with(letters)) continue;
    if (RegisterBytes(operands.back()) == 0) continue;
    const bool move = instruction.mnemonic.starts_with("mov") && operands.size() == 2;
    return move ? Constant(operands[0]) : std::nullopt;
  }
  return {};
}

bool MovesMemory(std::string_view name) {
  constexpr std::string_view kNames[] = {"memcpy",       "memmove",       "memset",
                                         "__memcpy_chk", "__memmove_chk", "__memset_chk"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

std::uint64_t KnownStringBytes(const Assembly& assembly, const Block& block) {
  std::uint64_t bytes = 0;
  for (std::size_t i = block.first; i < block.end; ++i) {
    const Instruction& instruction = assembly.instructions[i];
    if (IsCallOrTailCall(instruction) && MovesMemory(CalledName(instruction))) {
      bytes += Holds(assembly, block, i, "dx").value_or(0);
    } else if (IsStringInstruction(instruction) && instruction.prefix.starts_with("rep") &&
               (instruction.mnemonic.starts_with("movs") ||
                instruction.mnemonic.starts_with("stos"))) {
      const auto times = static_cast<std::uint64_t>(StringElementBytes(instruction));
      bytes += Holds(assembly, block, i, "cx").value_or(0) * times;
    }
  }
  return bytes;
}

}  // namespace pragma
