#include "expert/variant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/candidate.h"

namespace pragma {
namespace {

constexpr std::string_view kMark = "// pragma-expert:";
constexpr std::size_t kFirstBytes = 2000;  // where the mark is looked for
constexpr std::string_view kTune = "PRAGMA_TUNE(";

// Of every kernel; the first value is the default.
const std::vector<Choice>& CommonChoices() {
  static const std::vector<Choice> kChoices{
      {"stream",
       0,
       {0, 1, 2},
       "stores past the caches: 0 for outputs that no cache holds, 1 never, 2 for every output",
       {"technique.non_temporal_stores"},
       Roof::kMemory},
      {"schedule",
       0,
       {0, 1},
       "loops handed to threads: 0 in equal parts, 1 as threads become free",
       {"technique.dynamic_schedule"},
       Roof::kEither},
      {"threads",
       1,
       {1, 0},
       "whether all processors share the work",
       {"technique.parallel_outer_loop", "technique.serial_threshold"},
       Roof::kEither},
      {"compiler", 0, {0, 1}, "0 g++, 1 clang++", {}, Roof::kArithmetic},
      {"unroll",
       0,
       {0, 1},
       "whether the compiler unrolls loops further",
       {"technique.limit_unrolling", "technique.fixed_trip_counts"},
       Roof::kArithmetic},
  };
  return kChoices;
}

// Of tunables, by how their names end.
const std::vector<Choice>& TunableKinds() {
  static const std::vector<Choice> kKinds{
      {"_TILE_ROWS",
       0,
       {},
       "rows of sums that stay in registers",
       {"technique.register_tiling", "technique.matmul_micro_kernel", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_TILE_VECTORS",
       0,
       {},
       "vectors of sums in each row of the registers' tile",
       {"technique.register_tiling", "technique.matmul_micro_kernel", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_DEPTH",
       0,
       {},
       "steps of the depth for which panels stay in the caches",
       {"technique.cache_blocking", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_ROW_TILES",
       0,
       {},
       "tiles of rows in a core's own cache",
       {"technique.cache_blocking", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_COLUMN_TILES",
       0,
       {},
       "tiles of columns in the shared cache",
       {"technique.cache_blocking", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_COLUMNS",
       0,
       {},
       "vectors side by side where a fold runs down columns",
       {"technique.reduce_strided_dimension", "technique.more_streams",
        "technique.vectorise_other_loop", "technique.register_tiling"},
       Roof::kMemory},
      {"_CHAINS",
       0,
       {},
       "independent accumulators of a fold along a row",
       {"technique.multiple_accumulators", "technique.more_streams"},
       Roof::kArithmetic},
      {"_BLOCK",
       0,
       {},
       "elements of a long run that a thread takes at a time",
       {"technique.split_large_dimension", "technique.cache_blocking"},
       Roof::kMemory},
  };
  return kKinds;
}

const Choice* FindCommon(std::string_view name) {
  const auto found = std::ranges::find(CommonChoices(), name, &Choice::name);
  return found == CommonChoices().end() ? nullptr : &*found;
}

bool IsTunableName(std::string_view name) {
  const auto fits = [](unsigned char c) {
    return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, fits);
}

// "  PRAGMA_TUNE(SUM_BLOCK, 4096, 1024, 4096);"
struct Declaration {
  std::string before;
  std::string name;
  int otherwise = 0;
  std::vector<int> values;
};

std::optional<Declaration> DeclarationIn(const std::string& line) {
  const std::size_t at = line.find(kTune);
  const std::size_t end = line.find(')', at == std::string::npos ? 0 : at);
  if (at == std::string::npos || end == std::string::npos || line.starts_with('#'))
    return std::nullopt;
  const std::size_t first = at + kTune.size();
  const std::vector<std::string> words = Split(line.substr(first, end - first), ',');
  if (words.size() < 3) return std::nullopt;
  Declaration found{
      line.substr(0, at), std::string(Trim(words[0])), std::atoi(words[1].c_str()), {}};
  for (std::size_t i = 2; i < words.size(); ++i)
    found.values.push_back(std::atoi(words[i].c_str()));
  return found;
}

// What changes nothing in this kernel is no choice.
bool Matters(const Choice& choice, const std::string& source) {
  const bool shares = source.find("\n#pragma omp ") != std::string::npos;
  if (choice.name == "threads") return shares || choice.present == 0;
  if (choice.name == "schedule") return shares;
  return true;
}

void DropIdle(Choice& choice, const std::string& source) {
  if (choice.name != "stream" || choice.present != 0) return;
  const bool streams = source.find("StreamEnd();") != std::string::npos;
  std::erase(choice.values, streams ? 2 : 1);
}

}  // namespace

std::vector<Choice> ChoicesIn(const Candidate& candidate) {
  const std::optional<KernelVariant> variant = VariantOf(candidate);
  if (!variant) return {};
  const std::string& source = candidate.source();
  std::vector<Choice> choices;
  for (const std::string& line : SplitLines(source)) {
    const std::optional<Declaration> declared = DeclarationIn(line);
    if (!declared) continue;
    Choice choice{declared->name, declared->otherwise, declared->values, "", {}, Roof::kEither};
    for (const Choice& kind : TunableKinds()) {
      if (!declared->name.ends_with(kind.name)) continue;
      choice.meaning = kind.meaning;
      choice.techniques = kind.techniques;
      choice.roof = kind.roof;
      break;
    }
    choices.push_back(std::move(choice));
  }
  // A tuner has already tried all values together.
  if (!candidate.tunables.empty()) choices.clear();
  for (Choice choice : CommonChoices()) {
    choice.present = variant->Get(choice.name);
    if (!Matters(choice, source)) continue;
    DropIdle(choice, source);
    choices.push_back(std::move(choice));
  }
  return choices;
}

std::string WithTunables(const std::string& source, const KernelVariant& variant) {
  std::string text;
  for (const std::string& line : SplitLines(source)) {
    const std::optional<Declaration> declared = DeclarationIn(line);
    const auto wanted = declared ? variant.values.find(declared->name) : variant.values.end();
    if (wanted == variant.values.end() ||
        std::ranges::find(declared->values, wanted->second) == declared->values.end()) {
      text += line + "\n";
      continue;
    }
    text += fmt::format("{}{}{}, {}, {});\n", declared->before, kTune, declared->name,
                        wanted->second, fmt::join(declared->values, ", "));
  }
  return text;
}

int KernelVariant::Get(std::string_view name) const {
  const auto found = values.find(std::string(name));
  if (found != values.end()) return found->second;
  const Choice* choice = FindCommon(name);
  return choice == nullptr ? 0 : choice->values.front();
}

std::string KernelVariant::Text() const {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "default" : text;
}

KernelVariant VariantFromText(std::string_view text) {
  KernelVariant variant;
  for (const std::string& word : Split(std::string(text), ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals);
    const int value = std::atoi(word.c_str() + equals + 1);
    const Choice* choice = FindCommon(name);
    const bool known =
        choice != nullptr && std::ranges::find(choice->values, value) != choice->values.end();
    if (choice != nullptr && known && value == choice->values.front()) {
      variant.values.erase(name);
    } else if (known || IsTunableName(name)) {
      variant.values[name] = value;
    }
  }
  return variant;
}

std::optional<KernelVariant> VariantOf(const Candidate& candidate) {
  if (candidate.language != Language::kCpp) return std::nullopt;
  for (const std::string& line :
       SplitLines(std::string_view(candidate.source()).substr(0, kFirstBytes)))
    if (line.starts_with(kMark))
      return VariantFromText(std::string_view(line).substr(kMark.size()));
  return std::nullopt;
}

std::string VariantLine(const KernelVariant& variant) {
  return fmt::format("{} {}\n", kMark, variant.Text());
}

}  // namespace pragma
