// Computes how many bytes a memory operand has. AT&T syntax does not say it for vector
// instructions. It follows from the mnemonic and the registers among the operands.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "build/memory_access.h"

namespace pragma {
namespace {

struct NamedBytes {
  std::string_view name;
  int bytes;
};

template <std::size_t N>
std::optional<int> Look(const NamedBytes (&table)[N], std::string_view name) {
  const auto found = std::ranges::find(table, name, &NamedBytes::name);
  return found == std::end(table) ? std::nullopt : std::optional(found->bytes);
}

// Returns the bytes for a letter: b, w, d, q of packed integer mnemonics; b, w, l, q of general
// ones.
int LetterBytes(char letter) {
  switch (letter) {
    case 'b': return 1;
    case 'w': return 2;
    case 'd':
    case 'l': return 4;
    case 'q': return 8;
    default: return 0;
  }
}

constexpr NamedBytes kFixed[] = {
    {"movhps", 8},       {"movlps", 8},       {"movhpd", 8},         {"movlpd", 8},
    {"movd", 4},         {"insertps", 4},     {"extractps", 4},      {"ldmxcsr", 4},
    {"stmxcsr", 4},      {"fldcw", 2},        {"fnstcw", 2},         {"fstcw", 2},
    {"cmpxchg16b", 16},  {"cmpxchg8b", 8},    {"insertf128", 16},    {"inserti128", 16},
    {"extractf128", 16}, {"extracti128", 16}, {"broadcastf128", 16}, {"broadcasti128", 16}};

// Parses "32x4" at the end of broadcast, insert and extract: four elements of 32 bits.
std::optional<int> TimesBytes(std::string_view name) {
  const bool part =
      name.starts_with("broadcast") || name.starts_with("insert") || name.starts_with("extract");
  const std::size_t at = name.rfind('x');
  if (!part || at == std::string_view::npos || at < 2 || at + 1 >= name.size()) return {};
  const int bits = name.substr(at - 2, 2) == "64" ? 64 : 32;
  return bits / 8 * (name[at + 1] - '0');
}

// Handles packed moves: pmovsxbw and pmovzxbw read less than they fill, and pmovwb, pmovswb,
// pmovuswb write less.
std::optional<int> PackedMoveBytes(std::string_view name, int vector) {
  if (!name.starts_with("pmov") || name.size() < 6) return {};
  const int from = LetterBytes(name[name.size() - 2]);
  const int to = LetterBytes(name.back());
  if (from == 0 || to == 0) return {};
  return vector * std::min(from, to) / std::max(from, to);
}

// Returns the element size of the type at the beginning of "ps2pd" or, after the 2, at its end.
int ConvertedElement(std::string_view type) {
  constexpr NamedBytes kTypes[] = {{"ps", 4}, {"pd", 8},  {"ph", 2}, {"dq", 4}, {"udq", 4},
                                   {"qq", 8}, {"uqq", 8}, {"w", 2},  {"uw", 2}, {"bf16", 2}};
  return Look(kTypes, type).value_or(0);
}

std::optional<int> ConversionBytes(std::string_view name, int vector) {
  if (!name.starts_with("cvt")) return {};
  std::string_view types = name.substr(3);
  if (types.starts_with('t')) types.remove_prefix(1);
  if (types.starts_with("ne")) types.remove_prefix(2);
  const std::size_t two = types.find('2');
  if (two == std::string_view::npos || two == 0) return vector;
  const std::string_view from = types.substr(0, two);
  std::string_view to = types.substr(two + 1);
  constexpr NamedBytes kScalars[] = {{"ss", 4}, {"sd", 8}, {"sh", 2}};
  if (const auto scalar = Look(kScalars, from)) return scalar;
  if (from == "si" || from == "usi") return to.ends_with('q') ? 8 : 4;
  if (to.ends_with('x')) return 16;
  if (to.ends_with('y')) return 32;
  const int source = ConvertedElement(from);
  const int target = ConvertedElement(to);
  if (source == 0 || target == 0) return vector;
  // A conversion into a wider element reads fewer elements than the register has room for. Of the
  // conversions into a narrower element, only the 512-bit form (a 256-bit result) and the SSE form
  // have no letter x or y.
  if (source <= target) return vector * source / target;
  if (name.starts_with("cvtps2ph")) return vector / 2;
  return vector >= 32 ? vector * source / target : vector;
}

// Returns whether it is a shift by a count in memory. Such a shift reads 16 bytes at any width.
bool IsShiftByCount(std::string_view name, std::size_t operand) {
  const bool shift =
      name.starts_with("psll") || name.starts_with("psrl") || name.starts_with("psra");
  return shift && operand == 0 && name.size() > 4 && name[4] != 'v';
}

std::optional<int> ElementBytes(std::string_view name) {
  if (const FloatForm form = FloatFormOf(name); form.element != 0) return form.element;
  if (!name.starts_with('p')) return {};
  const int bytes = LetterBytes(name.back());
  return bytes == 0 ? std::nullopt : std::optional(bytes);
}

// Returns the bytes that "{1to8}" reads.
int BroadcastBytes(std::string_view name, std::string_view operand, int vector) {
  const std::string_view digits = operand.substr(operand.find("{1to") + 4);
  int lanes = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), lanes);
  if (name.starts_with("cvt")) {
    const std::string_view from = name.substr(name.starts_with("cvtt") ? 4 : 3);
    return from.starts_with("pd") || from.starts_with("qq") || from.starts_with("uqq") ? 8
           : from.starts_with("ph") || from.starts_with("w") || from.starts_with("uw") ? 2
                                                                                       : 4;
  }
  if (const auto element = ElementBytes(name); element && *element >= 2) return *element;
  return lanes > 0 ? vector / lanes : 4;
}

int VectorOperandBytes(std::string_view name, std::size_t operand, int vector) {
  if (const auto fixed = Look(kFixed, name)) return *fixed;
  if (name == "movq") return 8;
  if (name == "movddup") return vector == 16 ? 8 : vector;
  if (const auto times = TimesBytes(name)) return *times;
  if (const auto move = PackedMoveBytes(name, vector)) return *move;
  if (const auto converted = ConversionBytes(name, vector)) return *converted;
  const bool one =
      name.starts_with("pbroadcast") || name.starts_with("pinsr") || name.starts_with("pextr");
  if (one) return LetterBytes(name.back());
  if (IsShiftByCount(name, operand)) return 16;
  if (const FloatForm form = FloatFormOf(name); form.scalar) return form.element;
  return vector;
}

// Returns the bytes of flds, faddl, fildll, fstpt, which follow from the last letters.
int X87Bytes(std::string_view name) {
  const bool integer = name.starts_with("fi");
  if (name.ends_with('t')) return 10;
  if (name.ends_with("ll") || name.ends_with('q')) return 8;
  if (name.ends_with('l')) return integer ? 4 : 8;
  return integer ? 2 : 4;
}

bool IsGeneral(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "add",   "sub",     "and",  "or",   "xor",   "cmp",  "test",   "mov",   "inc",
      "dec",   "neg",     "not",  "shl",  "sal",   "shr",  "sar",    "rol",   "ror",
      "rcl",   "rcr",     "adc",  "sbb",  "imul",  "mul",  "div",    "idiv",  "xchg",
      "xadd",  "cmpxchg", "push", "pop",  "bt",    "bts",  "btr",    "btc",   "lzcnt",
      "tzcnt", "popcnt",  "bsf",  "bsr",  "shld",  "shrd", "movabs", "movbe", "movnti",
      "crc32", "adcx",    "adox", "andn", "bextr", "bzhi", "blsr",   "blsi",  "blsmsk",
      "pdep",  "pext",    "mulx", "sarx", "shlx",  "shrx", "rorx",   "bswap"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

int GeneralBytes(const Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  const bool extends = (name.starts_with("movz") || name.starts_with("movs")) && name.size() > 5;
  if (extends) return LetterBytes(name[4]);
  if (name == "movslq") return 4;
  if (name.starts_with("set")) return 1;
  if (!IsGeneral(name) && IsGeneral(name.substr(0, name.size() - 1)))
    return LetterBytes(name.back());
  for (std::size_t i = instruction.operands.size(); i-- > 0;) {
    const int bytes = RegisterBytes(instruction.operands[i]);
    if (bytes != 0) return bytes;
  }
  return 8;
}

}  // namespace

FloatForm FloatFormOf(std::string_view base_name) {
  if (base_name.size() < 4 || (base_name.starts_with('p') && !base_name.starts_with("perm"))) {
    return {};
  }
  const std::string_view end = base_name.substr(base_name.size() - 2);
  const int element = end[1] == 's' ? 4 : end[1] == 'd' ? 8 : end[1] == 'h' ? 2 : 0;
  if (element == 0 || (end[0] != 's' && end[0] != 'p')) return {};
  return {.element = element, .scalar = end[0] == 's'};
}

int OperandBytes(const Instruction& instruction, std::size_t operand) {
  const std::string_view name = BaseName(instruction.mnemonic);
  const int vector = VectorBytes(instruction.operands);
  if (name.starts_with("prefetch")) return 1;
  if (IsBroadcast(instruction.operands[operand])) {
    return BroadcastBytes(name, instruction.operands[operand], vector);
  }
  if (name.starts_with("kmov")) return LetterBytes(name.back());
  if (const auto fixed = Look(kFixed, name)) return *fixed;
  if (vector != 0) return VectorOperandBytes(name, operand, vector);
  // This handles conversions to a general register, such as cvttss2si.
  if (const auto converted = ConversionBytes(name, 0)) return *converted;
  if (name.starts_with('f') && !name.starts_with("fx")) return X87Bytes(name);
  return GeneralBytes(instruction);
}

}  // namespace pragma
