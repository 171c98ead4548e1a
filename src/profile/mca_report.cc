// Parses the text report of llvm-mca. Its JSON is not used because it lacks the bottleneck
// analysis.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profile/mca.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxNames = 256;
constexpr std::size_t kMaxWord = 200;

double Number(std::string_view text) {
  text = Trim(text);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && std::isfinite(value) && value >= 0 ? value : 0;
}

std::string Word(std::string_view text) { return Shorten(ToValidUtf8(Trim(text)), kMaxWord); }

// Parses the "[ 82.12% ]" after the name as a share.
double Share(std::string_view line) {
  const std::size_t open = line.rfind('[');
  return open == std::string_view::npos ? 0 : std::min(Number(line.substr(open + 1)) / 100, 1.0);
}

void ReadSummaryLine(std::string_view line, McaReport& report) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon);
  const double value = Number(line.substr(colon + 1));
  if (name == "Iterations") report.iterations = value;
  if (name == "Instructions") report.instructions = value;
  if (name == "Total Cycles") report.cycles = value;
  if (name == "Block RThroughput") report.block_throughput = value;
}

// Reads a line of the bottleneck section. A name with a dash belongs to the heading above it.
void ReadBottleneckLine(std::string_view line, McaReport& report) {
  const std::string_view name = Trim(line);
  if (name.starts_with("Resource Pressure")) {
    report.resource_share = Share(name);
  } else if (name.starts_with("- Register Dependencies")) {
    report.register_share = Share(name);
  } else if (name.starts_with("- Memory Dependencies")) {
    report.memory_share = Share(name);
  } else if (name.starts_with("- ") && report.pressed.size() < kMaxNames) {
    report.pressed.push_back({Word(name.substr(2, name.find('[') - 2)), Share(name)});
  }
}

// Parses lines such as " +----> 1.  vfmadd231ps ... ## REGISTER dependency:  %zmm1".
std::optional<McaStep> ReadStep(std::string_view line) {
  const std::size_t mark = line.find("## ");
  const std::size_t dot = line.find('.');
  if (mark == std::string_view::npos || dot == std::string_view::npos || dot > mark)
    return std::nullopt;
  std::size_t begin = dot;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) --begin;
  if (begin == dot) return std::nullopt;
  const std::string_view cause = line.substr(mark + 3);
  const std::size_t colon = std::min(cause.find(':'), cause.size() - 1);
  std::string_view what = cause.substr(colon + 1);
  what = what.substr(0, what.find('['));
  McaStep step{.index = static_cast<int>(std::min(Number(line.substr(begin, dot - begin)), 1e6)),
               .instruction = Word(line.substr(dot + 1, mark - dot - 1)),
               .cause = {}};
  if (cause.starts_with("REGISTER")) step.cause = "register " + Word(what);
  if (cause.starts_with("MEMORY")) step.cause = "memory";
  if (cause.starts_with("RESOURCE")) step.cause = "resource " + Word(what);
  std::ranges::replace(step.instruction, '\t', ' ');
  return step.cause.empty() ? std::nullopt : std::optional(std::move(step));
}

void AddStep(std::string_view line, McaReport& report) {
  std::optional<McaStep> step = ReadStep(line);
  if (!step || report.chain.size() >= kMaxNames) return;
  const bool known = std::ranges::any_of(report.chain, [&](const McaStep& other) {
    return other.index == step->index && other.cause == step->cause;
  });
  if (!known) report.chain.push_back(std::move(*step));
}

// Parses lines such as "[12.0] - Zn4FP45".
void AddUnit(std::string_view line, McaReport& report) {
  const std::size_t dash = line.find(" - ");
  if (!line.starts_with('[') || dash == std::string_view::npos) return;
  if (report.ports.size() < kMaxNames) report.ports.push_back({Word(line.substr(dash + 3)), 0});
}

// Parses lines such as " -   0.60   1.00 ", whose values are in the order of the units.
void ReadPressures(std::string_view line, McaReport& report) {
  std::size_t unit = 0;
  for (const std::string& word : Split(line, ' ')) {
    if (Trim(word).empty()) continue;
    if (unit >= report.ports.size()) return;
    report.ports[unit++].value = Number(word);
  }
}

enum class Section { kSummary, kBottleneck, kChain, kOther, kUnits, kPressure, kDone };

Section NextSection(std::string_view line, Section section) {
  if (line.starts_with("Throughput Bottlenecks")) return Section::kBottleneck;
  if (line.starts_with("Critical sequence")) return Section::kChain;
  if (line.starts_with("Instruction Info")) return Section::kOther;
  if (line.starts_with("Resources:")) return Section::kUnits;
  if (line.starts_with("Resource pressure per iteration")) return Section::kPressure;
  if (line.starts_with("Resource pressure by instruction")) return Section::kDone;
  return section;
}

void ReadLine(std::string_view line, Section section, McaReport& report) {
  switch (section) {
    case Section::kSummary: ReadSummaryLine(line, report); break;
    case Section::kBottleneck: ReadBottleneckLine(line, report); break;
    case Section::kChain: AddStep(line, report); break;
    case Section::kUnits: AddUnit(line, report); break;
    case Section::kPressure:
      if (!line.starts_with('[')) ReadPressures(line, report);
      break;
    case Section::kOther:
    case Section::kDone: break;
  }
}

void Sort(std::vector<McaPressure>& pressures) {
  std::ranges::stable_sort(pressures, std::ranges::greater{}, &McaPressure::value);
  std::erase_if(pressures, [](const McaPressure& pressure) { return pressure.value <= 0; });
}

}  // namespace

std::optional<McaReport> ReadMca(std::string_view text) {
  McaReport report;
  Section section = Section::kSummary;
  for (const std::string& line : SplitLines(text)) {
    const Section next = NextSection(line, section);
    if (next == section && !line.empty()) ReadLine(line, section, report);
    section = next;
    if (section == Section::kDone) break;
  }
  if (report.iterations <= 0 || report.cycles <= 0) return std::nullopt;
  Sort(report.pressed);
  Sort(report.ports);
  return report;
}

}  // namespace pragma
