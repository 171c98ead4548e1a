// Which instructions change the control flow, and which functions they call.
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include "build/assembly.h"
#include "build/assembly_text.h"

namespace pragma {

bool IsConditionalJump(std::string_view mnemonic) {
  return (mnemonic.starts_with('j') && !IsJump(mnemonic)) || mnemonic == "loop" ||
         mnemonic == "loope" || mnemonic == "loopne";
}

bool IsJump(std::string_view mnemonic) { return mnemonic == "jmp" || mnemonic == "jmpq"; }

bool IsCall(std::string_view mnemonic) { return mnemonic == "call" || mnemonic == "callq"; }

bool IsReturn(std::string_view mnemonic) {
  return mnemonic == "ret" || mnemonic == "retq" || mnemonic == "ud2" || mnemonic == "hlt";
}

std::string CalledName(const Instruction& instruction) {
  if (instruction.operands.empty()) return {};
  std::string_view target = instruction.operands[0];
  if (target.starts_with('*')) {
    if (target.find("@GOTPCREL(%rip)") == std::string_view::npos) return {};
    target.remove_prefix(1);
  }
  const std::string_view name = Unquoted(target.substr(0, target.find('@')));
  const bool local = name.empty() || name.starts_with(".L") || name.starts_with('%') ||
                     std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  return std::string(local ? "" : name);
}

bool IsCallOrTailCall(const Instruction& instruction) {
  return IsCall(instruction.mnemonic) ||
         (IsJump(instruction.mnemonic) && !CalledName(instruction).empty());
}

}  // namespace pragma
