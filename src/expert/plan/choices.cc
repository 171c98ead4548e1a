#include "expert/plan/choices.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/plan/tuning.h"
#include "expert/plan/variant.h"

namespace pragma::expert {
namespace {

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
      {std::string(kCompilerChoice), 0, {0, 1}, "0 g++, 1 clang++", {}, Roof::kArithmetic},
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
       "products: 0 on tensor cores, of three TF32 parts or as stored in 16 bits, 1 in plain fp32",
       {"technique.triton_input_precision"},
       Roof::kArithmetic},
      {"products",
       0,
       {0, 1},
       "sums of products: 0 in blocks for tensor cores, 1 as plain loops",
       {"technique.triton_dot", "technique.triton_block_sizes"},
       Roof::kArithmetic},
      {"attention",
       0,
       {0, 1},
       "attention: 0 in one kernel that never stores the scores, 1 as products and a soft-max",
       {"technique.triton_attention"},
       Roof::kEither},
      {"descriptors",
       0,
       {0, 1},
       "large products of 16 bits: 0 loaded by tensor descriptors, 1 by pointers",
       {"technique.triton_persistent"},
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
       {0, 1, 2},
       "tiles: 0 by Triton's tuner where none is known to be the best, 1 as they are, which spares "
       "each launch its look at the tuner, 2 by the tuner everywhere",
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

Choice ChoiceOf(const TunableNumber& number) {
  Choice choice;
  choice.name = number.name;
  choice.present = number.value;
  choice.values = {number.value};
  std::ranges::copy_if(number.values, std::back_inserter(choice.values),
                       [&](int value) { return value != number.value; });
  for (const TunableKind& kind : TunableKinds()) {
    if (!number.name.ends_with(kind.ending)) continue;
    choice.meaning = kind.meaning;
    choice.techniques = kind.techniques;
    choice.roof = kind.roof;
    break;
  }
  return choice;
}

// Returns whether a choice can change anything in this kernel.
bool Matters(const Choice& choice, const CppFacts& facts) {
  if (choice.name == "threads") return facts.shares_work || choice.present == 0;
  if (choice.name == "schedule") return facts.shares_work;
  return true;
}

// Returns whether a choice can change anything in this module. Its code is present only where the
// choice has its default, since another value has removed it.
bool Matters(const Choice& choice, const TritonFacts& facts) {
  if (choice.present != 0) return true;
  if (choice.name == "precision" || choice.name == "products") return facts.has_products;
  if (choice.name == "attention") return facts.attends;
  if (choice.name == "descriptors") return facts.describes;
  if (choice.name == "split") return facts.splits;
  if (choice.name == "rows") return facts.tunes_long_rows;
  if (choice.name == "tune") return facts.tunes;
  return true;
}

// Removes the value that writes the same text as the default.
void DropIdle(Choice& choice, const CppFacts& facts) {
  if (choice.name != "stream" || choice.present != 0) return;
  std::erase(choice.values, facts.streams ? 2 : 1);
}

}  // namespace

bool IsTunable(const Choice& choice) { return FindChoice(choice.name) == nullptr; }

const Choice* FindChoice(std::string_view name) {
  for (const auto* choices : {&CommonChoices(), &TritonChoices()})
    if (const auto found = std::ranges::find(*choices, name, &Choice::name);
        found != choices->end())
      return &*found;
  return nullptr;
}

void CppFacts::Add(const CppFacts& other) {
  tunables.insert(tunables.end(), other.tunables.begin(), other.tunables.end());
  shares_work = shares_work || other.shares_work;
  streams = streams || other.streams;
}

std::vector<Choice> OpenInCpp(const KernelVariant& variant, const CppFacts& facts) {
  std::vector<Choice> choices;
  for (const TunableNumber& number : facts.tunables) choices.push_back(ChoiceOf(number));
  for (Choice choice : CommonChoices()) {
    choice.present = variant.Get(choice.name);
    if (!Matters(choice, facts)) continue;
    DropIdle(choice, facts);
    choices.push_back(std::move(choice));
  }
  return choices;
}

std::vector<Choice> OpenInTriton(const KernelVariant& variant, const TritonFacts& facts) {
  std::vector<Choice> choices;
  for (Choice choice : TritonChoices()) {
    choice.present = variant.Get(choice.name);
    if (Matters(choice, facts)) choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace pragma::expert
