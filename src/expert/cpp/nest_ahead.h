// Software prefetch. A pass that works on data in the caches leaves the memory idle. That is a good
// time to prefetch the data with which the next outer iteration begins, which the hardware
// prefetcher cannot predict.
#pragma once

#include <string>
#include <vector>

#include "expert/cpp/nest_context.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

inline constexpr int kWidestColumns = 128;

// Returns the number of adjacent vectors in a nest that reads columns from memory. It is large, so
// that long stretches of each row are read and few pages are open at a time. It is limited by the
// cache that the stretches of all rows need where they are read again, and by the work that all
// threads need.
[[nodiscard]] int WideColumns(const NestContext& context);

// Writes prefetches of the data with which the next iteration begins, if this pass is the one for
// it. It is the pass with the most arithmetic among those behind the first one, provided that the
// data of both iterations fit in the caches.
void WriteAhead(NestContext& context, const Phase& phase, Writer& body);
// In a first pass down wide columns, prefetches the stretches of the rows to come.
void WriteRowsAhead(NestContext& context, const Phase& phase, Writer& body);

// Declares how far ahead a pass along a row prefetches its own data: a tunable, in floats.
void DeclareOwnAhead(NestContext& context, const Phase& phase);
[[nodiscard]] bool AsksForOwn(const NestContext& context, const Phase& phase);
// Writes one prefetch per cache line. In the generated code, `u` counts the vectors of one
// iteration of the unrolled loop.
void WriteOwnAhead(NestContext& context, const Phase& phase, Writer& body);

// Writes a prefetch of the memory at `address`, moved by the code in `step`.
void AskFor(NestContext& context, Writer& body, int buffer, const AffineForm& address,
            const std::string& step);
// Returns the loads of a pass that read memory line after line, each address once.
[[nodiscard]] std::vector<const Load*> AheadOf(const NestContext& context, const Phase& phase);
[[nodiscard]] bool IsBeyondCaches(const NestContext& context, const Buffer& buffer);

}  // namespace pragma::expert
