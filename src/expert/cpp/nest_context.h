// NestContext: what the emitters of one nest work on together. Each emitter writes one kind of pass
// or one part of it, and keeps what only it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/nest_choices.h"

namespace pragma::expert {

// The tunables of a nest, as code. Each holds a number where there is nothing to tune.
struct NestNumbers {
  static constexpr int kUsualChains = 4;
  static constexpr int kUsualColumns = 4;
  static constexpr int kUsualBlock = 4096;
  std::string chains = "1";  // accumulators along a row
  std::string block;         // elements of a long run that a thread takes at a time
  std::string ahead;         // prefetch distance of a pass for its own data, in floats; empty: none
  std::string columns = "1";  // adjacent vectors down columns
  int wide = kUsualColumns;   // the default of `columns`
};

struct NestContext {
  NestContext(const Program& of, const Nest& what, const NestChoices& how, Needs& uses, Writer& to);

  const Program& program;
  const Nest& nest;
  const NestChoices& choices;
  Needs& needs;
  Writer& out;
  std::vector<std::string> loops;  // names of the loop variables, one per dimension
  ExpressionWriter values;
  NestNumbers numbers;
};

// Declares a number that the tuner may change. Returns the name of its declaration, or the number
// itself where no other value is possible.
[[nodiscard]] std::string DeclareNumber(NestContext& context, std::string_view what, int value,
                                        const std::vector<int>& values);

// ---- Loops.

void OpenLoop(NestContext& context, std::size_t dimension);
void OpenLoop(NestContext& context, std::size_t dimension, std::string_view from,
              std::string_view to);
void CloseLoops(NestContext& context, std::size_t count);
void OpenVectors(Writer& out);  // down columns: over the vectors of one iteration
// Opens a loop along the lanes. In its body `e` is the first element, and `unroll` declares the
// vector's number in the iteration.
void OpenLanes(NestContext& context, std::string_view chains, std::string_view from,
               std::string_view to, std::string_view unroll);

// Returns the outer loops except the one along which the lanes run.
[[nodiscard]] std::vector<std::size_t> OuterLoops(const Nest& nest);
// Returns the inner loops except the one along which the lanes run.
[[nodiscard]] std::vector<std::size_t> InnerLoops(const Nest& nest);
// Returns the size of the dimension along which the lanes run.
[[nodiscard]] std::int64_t LaneCount(const Nest& nest);

// ---- Steps.

[[nodiscard]] bool HasFolds(const Nest& nest, const Phase& phase);
[[nodiscard]] bool OnlyMaps(const Nest& nest, const Phase& phase);
void CountUses(NestContext& context, const Phase& phase);
void Forget(NestContext& context, const Phase& phase);

// Writes an element. It is given its own name where other steps read it, and is then stored to its
// place in memory.
void WriteMap(NestContext& context, const Step& step, Writer& out);
void WriteOnce(NestContext& context, const Phase& phase);  // the steps of an outer phase
// Stores a value to its place in memory, where anything reads it there.
void Store(NestContext& context, Writer& out, const Step& step, const Text& value);
// Returns whether a step writes past the caches.
[[nodiscard]] bool Streams(const NestContext& context, const Step& step);

}  // namespace pragma::expert
