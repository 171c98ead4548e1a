#include "build/odd_instructions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {
namespace {

// The three bit fields of a ModRM byte.
constexpr unsigned Mode(unsigned byte) { return byte >> 6U; }
constexpr unsigned Register(unsigned byte) { return byte >> 3U & 7U; }
constexpr unsigned kRegisterMode = 3;  // the operand is not in memory

// Classifies an opcode after the escape byte 0x0f. `next` and `then` are the following bytes, 0 at
// the end.
std::string_view AfterEscape(unsigned opcode, unsigned next) {
  const bool memory = Mode(next) != kRegisterMode;
  const unsigned field = Register(next);
  switch (opcode) {
    case 0x05: return "syscall";
    case 0x31: return "rdtsc";
    case 0x33: return "rdpmc";
    case 0x34: return "sysenter";
    case 0x01:
      if (next == 0xf9) return "rdtscp";
      if (next == 0xfd) return "rdpru";
      if (next == 0xee) return "rdpkru";
      if (next == 0xef) return "wrpkru";
      return {};
    case 0xc7:
      if (!memory && field >= 6) return "rdrand";
      return memory && field >= 3 && field <= 5 ? "xsavec" : "";
    case 0xae:
      if (!memory && field <= 3) return "wrgsbase";
      return memory && (field <= 1 || (field >= 4 && field <= 6)) ? "xsave" : "";
    default: return {};
  }
}

struct InstructionFamily {
  std::string_view prefix;  // prefix of the mnemonic, without the suffix for 64 bits and the like
  std::string_view what;
};

constexpr InstructionFamily kForbidden[] = {
    {"rdtsc", "a kernel may not look at the clock"},
    {"rdpmc", "a kernel may not look at the processor's counters"},
    {"rdpru", "a kernel may not look at the processor's counters"},
    {"rdpid", "a kernel may not ask where it runs"},
    {"rdrand", "a kernel may not draw random numbers"},
    {"rdseed", "a kernel may not draw random numbers"},
    {"rdfsbase", "a kernel has no use for the bases of segments"},
    {"rdgsbase", "a kernel has no use for the bases of segments"},
    {"wrfsbase", "a kernel has no use for the bases of segments"},
    {"wrgsbase", "a kernel has no use for the bases of segments"},
    {"rdpkru", "a kernel has no use for protection keys"},
    {"wrpkru", "a kernel has no use for protection keys"},
    {"xsave", "a kernel has no use for saved register states"},
    {"xrstor", "a kernel has no use for saved register states"},
    {"fxsave", "a kernel has no use for saved register states"},
    {"fxrstor", "a kernel has no use for saved register states"}};

// Returns the mnemonic of a line of objdump: "\trdtsc", "\tlock xadd ...".
std::string_view Mnemonic(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == 0 || begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  while (true) {
    const std::size_t end = line.find_first_of(" \t");
    const std::string_view word = line.substr(0, end);
    const bool prefix = word == "rep" || word == "repz" || word == "repnz" || word == "lock" ||
                        word == "bnd" || word == "notrack" || word == "data16" ||
                        word == "addr32" || word.starts_with("rex") || word == "cs" ||
                        word == "ds" || word == "es" || word == "fs" || word == "gs" ||
                        word == "ss";
    if (!prefix || end == std::string_view::npos) return word;
    const std::size_t next = line.find_first_not_of(" \t", end);
    if (next == std::string_view::npos) return word;
    line.remove_prefix(next);
  }
}

}  // namespace

std::vector<std::string> OddInstructions(std::string_view code) {
  std::vector<std::string> found;
  const auto add = [&found](std::string_view name) {
    if (!name.empty() && std::ranges::find(found, name) == found.end()) found.emplace_back(name);
  };
  const auto at = [code](std::size_t i) {
    return i < code.size() ? static_cast<unsigned char>(code[i]) : 0U;
  };
  constexpr unsigned kEscape = 0x0f;
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (at(i) == kEscape) add(AfterEscape(at(i + 1), at(i + 2)));
    if (at(i) == 0xcd && at(i + 1) == 0x80) add("int 0x80");
  }
  return found;
}

bool CallForDisassembly(const std::vector<std::string>& found) {
  // System calls are left to the filters.
  return std::ranges::any_of(found, [](const std::string& name) {
    return name != "syscall" && name != "int 0x80" && name != "sysenter";
  });
}

std::string InstructionComplaint(std::string_view disassembly) {
  while (!disassembly.empty()) {
    const std::size_t end = disassembly.find('\n');
    const std::string_view mnemonic = Mnemonic(disassembly.substr(0, end));
    for (const InstructionFamily& family : kForbidden) {
      if (mnemonic.starts_with(family.prefix)) {
        return "the code has the instruction " + std::string(mnemonic) + ": " +
               std::string(family.what);
      }
    }
    if (end == std::string_view::npos) break;
    disassembly.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace pragma
