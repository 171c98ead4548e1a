#include "build/memory_access.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "build/assembly_text.h"

namespace pragma {
namespace {

// Returns whether the operand only names an address and its memory is not accessed.
bool OnlyNamesAddress(std::string_view name) {
  constexpr std::string_view kStarts[] = {"lea",      "nop", "clflush", "clwb",
                                          "cldemote", "j",   "endbr"};
  return StartsWithOneOf(name, kStarts);
}

bool IsPrefetch(std::string_view name) {
  return name.starts_with("prefetch") || name.find("gatherpf") != std::string_view::npos ||
         name.find("scatterpf") != std::string_view::npos;
}

AccessKind OnlyOperandKind(std::string_view name) {
  constexpr std::string_view kStores[] = {"set",    "pop",    "fst",   "fist", "fnst", "stmxcsr",
                                          "fnsave", "fxsave", "xsave", "sidt", "sgdt"};
  constexpr std::string_view kBoth[] = {"inc", "dec", "neg", "not", "shl", "shr",    "sal",
                                        "sar", "rol", "ror", "rcl", "rcr", "cmpxchg"};
  if (StartsWithOneOf(name, kStores)) return AccessKind::kStore;
  return StartsWithOneOf(name, kBoth) ? AccessKind::kLoadAndStore : AccessKind::kLoad;
}

AccessKind DestinationKind(std::string_view name) {
  constexpr std::string_view kReads[] = {"bt", "btw", "btl", "btq"};
  constexpr std::string_view kWrites[] = {"mov",      "extract",   "pextr",   "cvtps2ph", "pmov",
                                          "compress", "pcompress", "maskmov", "pmaskmov", "kmov",
                                          "scatter",  "pscatter",  "set"};
  const bool compares = name.starts_with("cmp") && !name.starts_with("cmpxchg");
  if (compares || name.starts_with("test") || IsOneOf(name, kReads)) return AccessKind::kLoad;
  return StartsWithOneOf(name, kWrites) ? AccessKind::kStore : AccessKind::kLoadAndStore;
}

AccessKind KindOf(std::string_view name, std::size_t operand, std::size_t count) {
  if (OnlyNamesAddress(name)) return AccessKind::kNone;
  if (IsPrefetch(name)) return AccessKind::kPrefetch;
  if (name.starts_with("xchg") || name.starts_with("xadd")) return AccessKind::kLoadAndStore;
  if (count == 1) return OnlyOperandKind(name);
  return operand + 1 == count ? DestinationKind(name) : AccessKind::kLoad;
}

bool IsGatherOrScatter(std::string_view name) {
  constexpr std::string_view kStarts[] = {"gather", "pgather", "scatter", "pscatter"};
  return StartsWithOneOf(name, kStarts);
}

// Returns the bytes of "vpgatherqd (%rax,%zmm1,4), %ymm2{%k1}": as many elements as indices and
// registers have room for.
int GatherBytes(std::string_view name, const Instruction& instruction, std::size_t operand) {
  const std::size_t verb_end = name.find("er") + 2;
  if (verb_end + 2 > name.size()) return 0;
  const int index_bytes = name[verb_end] == 'q' ? 8 : 4;
  const int element = name.ends_with('d') && name[name.size() - 2] == 'p' ? 8
                      : name.ends_with('s')                               ? 4
                      : name.ends_with('q')                               ? 8
                                                                          : 4;
  const std::string index = "%" + ParseAddress(instruction.operands[operand]).index;
  const int data = VectorBytes(instruction.operands);
  const int lanes = std::min(VectorBytes({&index, 1}) / index_bytes, data / element);
  return lanes * element;
}

bool IsMasked(std::string_view name, std::span<const std::string> operands) {
  return name.starts_with("maskmov") || name.starts_with("pmaskmov") ||
         std::ranges::any_of(operands, [](const std::string& operand) {
           return operand.find("{%k") != std::string::npos;
         });
}

}  // namespace

MemoryAccess AccessOf(const Instruction& instruction) {
  MemoryAccess access;
  const std::vector<std::string>& operands = instruction.operands;
  const auto memory = std::ranges::find_if(operands, IsMemoryOperand);
  if (memory == operands.end() || IsStringInstruction(instruction)) return access;
  access.operand = static_cast<std::size_t>(memory - operands.begin());
  const std::string_view name = BaseName(instruction.mnemonic);
  if (IsConditionalJump(name)) return access;
  if (IsCall(name) || IsJump(name)) {
    if (!memory->starts_with('*')) return access;
    access.kind = AccessKind::kLoad;
    access.bytes = 8;
    return access;
  }
  access.kind = KindOf(name, access.operand, operands.size());
  if (access.kind == AccessKind::kNone) return access;
  access.gather = IsGatherOrScatter(name);
  access.bytes = access.gather ? GatherBytes(name, instruction, access.operand)
                               : OperandBytes(instruction, access.operand);
  access.masked = IsMasked(name, operands);
  access.non_temporal = name.starts_with("movnt") && access.kind == AccessKind::kStore;
  return access;
}

std::string_view WithoutBraces(std::string_view operand) {
  return Trim(operand.substr(0, operand.find('{')));
}

bool IsMemoryOperand(std::string_view operand) {
  if (operand.starts_with('*')) operand.remove_prefix(1);
  if (operand.empty() || operand.starts_with('$') || operand.starts_with('{')) return false;
  // A leading % means a register, unless it names a segment in front of an address.
  return !operand.starts_with('%') || operand.find(':') != std::string_view::npos;
}

Address ParseAddress(std::string_view operand) {
  Address address;
  operand = WithoutBraces(operand);
  if (operand.starts_with('*')) operand.remove_prefix(1);
  const std::size_t colon = operand.find(':');
  if (operand.starts_with('%') && colon != std::string_view::npos) {
    address.segment = operand.substr(1, colon - 1);
    operand.remove_prefix(colon + 1);
  }
  // The last bracket opens the address. The displacement may contain brackets too.
  const std::size_t open = operand.ends_with(')') ? operand.rfind('(') : std::string_view::npos;
  address.displacement = Trim(operand.substr(0, std::min(open, operand.size())));
  if (open == std::string_view::npos) return address;
  const auto parts = SplitOperands(operand.substr(open + 1, operand.size() - open - 2));
  const auto part = [&](std::size_t i) -> std::string_view {
    if (i >= parts.size()) return {};
    return std::string_view(parts[i]).substr(parts[i].starts_with('%') ? 1 : 0);
  };
  address.base = part(0);
  address.index = part(1);
  const std::string_view scale = part(2);
  std::from_chars(scale.data(), scale.data() + scale.size(), address.scale);
  return address;
}

bool IsStringInstruction(const Instruction& instruction) {
  constexpr std::string_view kNames[] = {
      "movsb", "movsw", "movsl", "movsq", "stosb", "stosw", "stosl", "stosq", "lodsb", "lodsw",
      "lodsl", "lodsq", "scasb", "scasw", "scasl", "scasq", "cmpsb", "cmpsw", "cmpsl", "cmpsq"};
  if (!IsOneOf(instruction.mnemonic, kNames)) return false;
  // "movsbl" is the name of the extending load, but some write "movsb (%rax), %ecx" for it.
  return instruction.operands.empty() ||
         std::ranges::any_of(instruction.operands, [](const std::string& operand) {
           return operand.find("%es:") != std::string::npos || operand == "(%rsi)";
         });
}

int StringElementBytes(const Instruction& instruction) {
  switch (instruction.mnemonic.back()) {
    case 'b': return 1;
    case 'w': return 2;
    case 'l': return 4;
    default: return 8;
  }
}

std::string_view BaseName(std::string_view mnemonic) {
  if (mnemonic.starts_with('v') && !mnemonic.starts_with("ver")) mnemonic.remove_prefix(1);
  return mnemonic;
}

int VectorBytes(std::span<const std::string> operands) {
  int widest = 0;
  for (const std::string& operand : operands) {
    const std::string_view text = operand;
    if (text.starts_with("%zmm")) widest = std::max(widest, 64);
    if (text.starts_with("%ymm")) widest = std::max(widest, 32);
    if (text.starts_with("%xmm")) widest = std::max(widest, 16);
    if (text.starts_with("%mm")) widest = std::max(widest, 8);
  }
  return widest;
}

int RegisterBytes(std::string_view operand) {
  if (!operand.starts_with('%')) return 0;
  const std::string_view name = operand.substr(1);
  constexpr std::string_view kBytes[] = {"al", "bl", "cl",  "dl",  "ah",  "bh",
                                         "ch", "dh", "sil", "dil", "bpl", "spl"};
  constexpr std::string_view kWords[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
  if (IsOneOf(name, kBytes)) return 1;
  if (IsOneOf(name, kWords)) return 2;
  if (name.size() >= 2 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
    return name.ends_with('d') ? 4 : name.ends_with('w') ? 2 : name.ends_with('b') ? 1 : 8;
  }
  if (name.size() != 3) return 0;
  return name[0] == 'r' ? 8 : name[0] == 'e' ? 4 : 0;
}

bool IsBroadcast(std::string_view operand) {
  return operand.find("{1to") != std::string_view::npos;
}

}  // namespace pragma
