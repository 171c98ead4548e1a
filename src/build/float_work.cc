#include "build/float_work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "build/memory_access.h"

namespace pragma {
namespace {

// Verb: the number of operations per lane, by the beginning of the mnemonic.
struct Verb {
  std::string_view name;
  std::uint64_t operations = 1;
  bool fused = false;
  bool multiplies = false;
};

constexpr Verb kVerbs[] = {{"fmadd", 2, true, true},
                           {"fmsub", 2, true, true},
                           {"fnmadd", 2, true, true},
                           {"fnmsub", 2, true, true},
                           {"add"},
                           {"sub"},
                           {"mul", 1, false, true},
                           {"div"},
                           {"sqrt"},
                           {"max"},
                           {"min"},
                           {"hadd"},
                           {"hsub"},
                           {"rcp"},
                           {"rsqrt"},
                           {"dp", 2, false, true}};

constexpr Verb kX87Verbs[] = {{"fadd"},  {"fsub"},  {"fmul", 1, false, true},  {"fdiv"}, {"fsqrt"},
                              {"fiadd"}, {"fisub"}, {"fimul", 1, false, true}, {"fidiv"}};

template <std::size_t N>
const Verb* Look(const Verb (&verbs)[N], std::string_view name) {
  const auto found =
      std::ranges::find_if(verbs, [name](const Verb& verb) { return name.starts_with(verb.name); });
  return found == std::end(verbs) ? nullptr : found;
}

constexpr std::uint64_t kX87Bits = 80;
constexpr std::uint64_t kBitsPerByte = 8;

}  // namespace

FloatWork FloatWorkOf(const Instruction& instruction) {
  const std::string_view name = BaseName(instruction.mnemonic);
  const auto vector = static_cast<std::uint64_t>(VectorBytes(instruction.operands));
  if (vector == 0) {
    const Verb* verb = Look(kX87Verbs, name);
    if (verb == nullptr) return {};
    return {.flops = 1, .bits = kX87Bits, .scalar = true, .multiplies = verb->multiplies};
  }
  // dpbf16ps computes sums of pairs of bfloat16 products.
  if (name == "dpbf16ps") {
    return {.flops = vector, .bits = vector * kBitsPerByte, .fused = true, .multiplies = true};
  }
  const FloatForm form = FloatFormOf(name);
  const Verb* verb = form.element == 0 ? nullptr : Look(kVerbs, name);
  if (verb == nullptr) return {};
  const auto element = static_cast<std::uint64_t>(form.element);
  const std::uint64_t bytes = form.scalar ? element : vector;
  return {.flops = bytes / element * verb->operations,
          .bits = bytes * kBitsPerByte,
          .scalar = form.scalar,
          .fused = verb->fused,
          .multiplies = verb->multiplies};
}

}  // namespace pragma
