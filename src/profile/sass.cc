#include "profile/sass.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "profile/demangle.h"
#include "profile/metrics.h"

namespace pragma {
namespace {

constexpr std::string_view kFunction = "Function : ";
constexpr std::string_view kAddressEnd = "*/";

// Turns "/*0050*/  @!P0 LDG.E.128 R0, ..." into "LDG.E.128". The result is empty if the line has no
// instruction.
std::string_view OpcodeOf(std::string_view line) {
  std::string_view rest = Trim(line);
  const std::size_t end = rest.find(kAddressEnd);
  if (!rest.starts_with("/*") || rest.starts_with("/* ") || end == std::string_view::npos)
    return {};
  rest = Trim(rest.substr(end + kAddressEnd.size()));
  if (rest.starts_with("@")) {
    const std::size_t space = rest.find(' ');
    rest = space == std::string_view::npos ? std::string_view() : Trim(rest.substr(space));
  }
  return rest.substr(0, rest.find_first_of(" ;"));
}

bool IsTensor(std::string_view base) {
  constexpr std::array<std::string_view, 11> kTensor{"HMMA",  "IMMA",  "DMMA",   "BMMA",
                                                     "QMMA",  "OMMA",  "HGMMA",  "IGMMA",
                                                     "QGMMA", "BGMMA", "UTCHMMA"};
  return IsOneOf(base, kTensor);
}

double BytesOf(std::string_view opcode) {
  if (opcode.find(".128") != std::string_view::npos) return 16;
  if (opcode.find(".64") != std::string_view::npos) return 8;
  if (opcode.find("16") != std::string_view::npos) return 2;
  if (opcode.find("8") != std::string_view::npos) return 1;
  return 4;
}

void Count(std::string_view opcode, SassMix& mix) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  if (base == "NOP") return;
  ++mix.instructions;
  mix.tensor += IsTensor(base) ? 1 : 0;
  mix.fused += base == "FFMA" || base == "FFMA2" ? 1 : 0;
  mix.multiplies += base == "FMUL" || base == "FMUL2" ? 1 : 0;
  mix.additions += base == "FADD" || base == "FADD2" ? 1 : 0;
  mix.local += base == "LDL" || base == "STL" ? 1 : 0;
  mix.atomics += base == "ATOMG" || base == "RED" || base == "REDG" || base == "ATOM" ? 1 : 0;
  mix.barriers += base == "BAR" ? 1 : 0;
  if (base != "LDG") return;
  ++mix.global_loads;
  mix.load_bytes += BytesOf(opcode);
}

}  // namespace

std::vector<SassMix> ParseSass(std::string_view listing) {
  std::vector<SassMix> found;
  for (const std::string& line : SplitLines(listing)) {
    const std::string_view text = Trim(line);
    if (text.starts_with(kFunction)) {
      found.push_back({.kernel = Demangled(std::string(Trim(text.substr(kFunction.size()))))});
    } else if (!found.empty()) {
      const std::string_view opcode = OpcodeOf(text);
      if (!opcode.empty()) Count(opcode, found.back());
    }
  }
  return found;
}

void AddSassMetrics(const SassMix& mix, MetricSet& metrics) {
  const auto add = [&](const char* tag, double value, const char* unit) {
    metrics.Add(tag, value, unit, "static");
  };
  add("gpu_tensor_instructions", mix.tensor, "1");
  add("gpu_fp_fused", mix.fused, "1");
  add("gpu_fp_multiply", mix.multiplies, "1");
  add("gpu_fp_add", mix.additions, "1");
  add("gpu_spills", mix.local, "1");
  if (mix.global_loads > 0) add("gpu_load_bytes", mix.load_bytes / mix.global_loads, "B");
}

}  // namespace pragma
