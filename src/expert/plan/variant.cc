#include "expert/plan/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "build/lexer.h"
#include "build/tunables.h"
#include "core/candidate.h"

namespace pragma::expert {
namespace {

constexpr std::string_view kMark = "pragma-expert:";  // follows the characters that begin a comment
constexpr std::size_t kFirstBytes = 2000;             // length of the prefix in which the mark is
                                                      // searched
constexpr const char* kCompiler = "compiler";
constexpr std::string_view kTune = "PRAGMA_TUNE(";

// The choices of every kernel. The first value is the default.
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
      {kCompiler, 0, {0, 1}, "0 g++, 1 clang++", {}, Roof::kArithmetic},
      {"unroll",
       0,
       {0, 1},
       "whether the compiler unrolls loops further",
       {"technique.limit_unrolling", "technique.fixed_trip_counts"},
       Roof::kArithmetic},
  };
  return kChoices;
}

// The choices of every Triton module. They exclude what Triton's own tuner tries (tiles, warps,
// stages).
const std::vector<Choice>& TritonChoices() {
  static const std::vector<Choice> kChoices{
      {"precision",
       0,
       {0, 1},
       "products: 0 of three TF32 parts on tensor cores, 1 in plain fp32",
       {"technique.triton_input_precision"},
       Roof::kArithmetic},
      {"products",
       0,
       {0, 1},
       "sums of products: 0 in blocks for tensor cores, 1 as plain loops",
       {"technique.triton_dot", "technique.triton_block_sizes"},
       Roof::kArithmetic},
      {"split",
       0,
       {0, 1},
       "folds with few results: 0 shared by all processors in two kernels, 1 each in one",
       {"technique.triton_two_stage_reduction", "technique.triton_split_k"},
       Roof::kMemory},
      {"rows",
       0,
       {0, 1},
       "long rows that are read more than once: 0 kept in registers, 1 read again in blocks",
       {"technique.triton_row_kernel"},
       Roof::kMemory},
      {"tune",
       0,
       {0, 1},
       "tiles: 0 by Triton's tuner, 1 as they are, which spares each launch its look at the tuner",
       {"technique.triton_autotune"},
       Roof::kEither},
  };
  return kChoices;
}

// Kinds of tunables, identified by the ending of their names.
struct TunableKind {
  std::string_view ending;
  std::string meaning;
  std::vector<std::string> techniques;
  Roof roof = Roof::kEither;
};
const std::vector<TunableKind>& TunableKinds() {
  static const std::vector<TunableKind> kKinds{
      {"_TILE_ROWS",
       "rows of sums that stay in registers",
       {"technique.register_tiling", "technique.matmul_micro_kernel", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_TILE_VECTORS",
       "vectors of sums in each row of the registers' tile",
       {"technique.register_tiling", "technique.matmul_micro_kernel", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_DEPTH",
       "steps of the depth for which panels stay in the caches",
       {"technique.cache_blocking", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_ROW_TILES",
       "tiles of rows in a core's own cache",
       {"technique.cache_blocking", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_COLUMN_TILES",
       "tiles of columns in the shared cache",
       {"technique.cache_blocking", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_KEYS",
       "keys of an attention whose scores are kept at a time",
       {"technique.cache_blocking", "technique.tunable_tiles"},
       Roof::kArithmetic},
      {"_COLUMNS",
       "vectors side by side where a fold runs down columns",
       {"technique.reduce_strided_dimension", "technique.more_streams",
        "technique.vectorise_other_loop", "technique.register_tiling"},
       Roof::kMemory},
      {"_CHAINS",
       "independent accumulators of a fold along a row",
       {"technique.multiple_accumulators", "technique.more_streams"},
       Roof::kArithmetic},
      {"_BLOCK",
       "elements of a long run that a thread takes at a time",
       {"technique.split_large_dimension", "technique.cache_blocking"},
       Roof::kMemory},
  };
  return kKinds;
}

std::string_view CommentSign(Language language) {
  return language == Language::kTriton ? "#" : "//";
}

const Choice* FindCommon(std::string_view name) {
  for (const auto* choices : {&CommonChoices(), &TritonChoices()})
    if (const auto found = std::ranges::find(*choices, name, &Choice::name);
        found != choices->end())
      return &*found;
  return nullptr;
}

bool IsTunableName(std::string_view name) {
  const auto fits = [](unsigned char c) {
    return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, fits);
}

// Returns the tunables of a source that the expert wrote, or none where the source has been changed
// so that they cannot be read.
std::vector<Tunable> TunablesIn(const std::string& source) {
  return ReadTunables(LexSource(source)).value_or(std::vector<Tunable>{});
}

Choice ChoiceOf(const Tunable& tunable) {
  Choice choice;
  choice.name = tunable.name;
  choice.present = static_cast<int>(tunable.values.front());
  for (const std::int64_t value : tunable.values) choice.values.push_back(static_cast<int>(value));
  for (const TunableKind& kind : TunableKinds()) {
    if (!tunable.name.ends_with(kind.ending)) continue;
    choice.meaning = kind.meaning;
    choice.techniques = kind.techniques;
    choice.roof = kind.roof;
    break;
  }
  return choice;
}

// Returns a line with another default for the tunable that it declares.
std::string WithDefault(std::string line, const Tunable& tunable, int value) {
  const std::string head = std::string(kTune) + tunable.name + ", ";
  const std::size_t at = line.find(head);
  if (at == std::string::npos) return line;
  const std::size_t from = at + head.size();
  const std::size_t end = line.find_first_of(",)", from);
  return end == std::string::npos ? line : line.replace(from, end - from, std::to_string(value));
}

// Returns whether a choice can change anything in this kernel.
bool Matters(const Choice& choice, const std::string& source) {
  const bool shares = source.find("\n#pragma omp ") != std::string::npos;
  if (choice.name == "threads") return shares || choice.present == 0;
  if (choice.name == "schedule") return shares;
  return true;
}

// Returns whether a choice is open in a module. Its code is present only where the choice is open,
// and another value may have removed it.
bool MattersInTriton(const Choice& choice, const std::string& source) {
  const auto has = [&](std::string_view text) { return source.find(text) != std::string::npos; };
  if (choice.present != 0) return true;
  if (choice.name == "precision" || choice.name == "products") return has("tl.dot(");
  if (choice.name == "split") return has("_parts");
  if (choice.name == "rows")
    return has("\"COLUMNS\": 4096") || has("\"COLUMNS\": 8192") || has("\"COLUMNS\": 16384");
  if (choice.name == "tune") return has("triton.autotune");
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
  if (candidate.language == Language::kTriton) {
    for (Choice choice : TritonChoices()) {
      choice.present = variant->Get(choice.name);
      if (MattersInTriton(choice, source)) choices.push_back(std::move(choice));
    }
    return choices;
  }
  for (const Tunable& tunable : TunablesIn(source)) choices.push_back(ChoiceOf(tunable));
  // A tuner has already tried all combinations of values.
  if (!candidate.tunables.empty()) choices.clear();
  for (Choice choice : CommonChoices()) {
    choice.present = variant->Get(choice.name);
    if (!Matters(choice, source)) continue;
    DropIdle(choice, source);
    choices.push_back(std::move(choice));
  }
  return choices;
}

std::vector<Choice> OpenChoices(const Candidate& candidate, const KernelTarget& target) {
  std::vector<Choice> choices = ChoicesIn(candidate);
  for (Choice& choice : choices) {
    if (choice.name == kCompiler && !target.clang) choice.values = {choice.present};
  }
  return choices;
}

std::string WithTunables(const std::string& source, const KernelVariant& variant) {
  std::vector<std::string> lines = SplitLines(source);
  for (const Tunable& tunable : TunablesIn(source)) {
    const auto wanted = variant.values.find(tunable.name);
    if (wanted == variant.values.end() ||
        std::ranges::find(tunable.values, wanted->second) == tunable.values.end())
      continue;
    std::string& line = lines[static_cast<std::size_t>(tunable.line) - 1];
    line = WithDefault(line, tunable, wanted->second);
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
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
  if (candidate.language != Language::kCpp && candidate.language != Language::kTriton)
    return std::nullopt;
  const std::string mark = fmt::format("{} {}", CommentSign(candidate.language), kMark);
  for (const std::string& line :
       SplitLines(std::string_view(candidate.source()).substr(0, kFirstBytes)))
    if (line.starts_with(mark)) return VariantFromText(std::string_view(line).substr(mark.size()));
  return std::nullopt;
}

std::string VariantLine(const KernelVariant& variant, Language language) {
  return fmt::format("{} {} {}\n", CommentSign(language), kMark, variant.Text());
}

}  // namespace pragma::expert
