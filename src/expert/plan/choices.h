// Choice: what the author of a kernel can decide in several ways. An emitter reports what its
// kernel contains, and so which choices are open in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expert/plan/tuning.h"
#include "expert/plan/variant.h"

namespace pragma::expert {

enum class Roof : std::uint8_t { kEither, kMemory, kArithmetic };

struct Choice {
  std::string name;
  int present = 0;          // the value in the present kernel
  std::vector<int> values;  // all values that make sense
  std::string meaning;      // description for people: "vectors side by side where a fold runs down
                            // columns"
  std::vector<std::string> techniques;  // techniques of the knowledge base that the choice carries
                                        // out
  Roof roof = Roof::kEither;            // the roof under which it is likely to matter
};

// The choice between g++ and clang++.
inline constexpr std::string_view kCompilerChoice = "compiler";

// Returns whether a choice is a number for the tuner.
[[nodiscard]] bool IsTunable(const Choice& choice);
// Returns a choice that every kernel of some language has, or null. Its first value is the default.
[[nodiscard]] const Choice* FindChoice(std::string_view name);

// What a kernel in C++ contains.
struct CppFacts {
  std::vector<TunableNumber> tunables;  // in the order of the text
  bool shares_work = false;             // some loop is divided among threads
  bool streams = false;                 // some result is stored past the caches
  void Add(const CppFacts& other);      // adds what comes later in the text
};

// What a module in Triton contains.
struct TritonFacts {
  bool has_products = false;     // a product on tensor cores
  bool attends = false;          // an attention in one kernel
  bool describes = false;        // a product that loads through tensor descriptors
  bool splits = false;           // a fold in two kernels
  bool tunes = false;            // a kernel with several configurations
  bool tunes_long_rows = false;  // one of which has long rows in its tiles
};

// Return the choices that a kernel leaves open, in the order in which they are tried when nothing
// points at another.
[[nodiscard]] std::vector<Choice> OpenInCpp(const KernelVariant& variant, const CppFacts& facts);
[[nodiscard]] std::vector<Choice> OpenInTriton(const KernelVariant& variant,
                                               const TritonFacts& facts);

// A kernel that the expert wrote.
struct WrittenKernel {
  std::string source;
  std::vector<Choice> open;  // the choices that it leaves open
};

}  // namespace pragma::expert
