#include "expert/plan/forwarding.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

const Buffer& BufferIn(const Program& program, int buffer) {
  return program.buffers[static_cast<std::size_t>(buffer)];
}

// Returns whether a value is read in a pass after the one that writes it. Such reads go through
// memory, except for results of reductions.
bool ReadLater(const Nest& nest, std::size_t writer) {
  if (nest.steps[writer].kind == Step::Kind::kFold || nest.outer[writer]) return false;
  bool seen = false;
  for (const Phase& phase : nest.phases) {
    for (const std::size_t s : phase.steps) {
      bool reads = false;
      VisitLoads(nest.steps[s].expr, [&](const Load& load, ExprType) {
        reads = reads || load.buffer == nest.steps[writer].buffer;
      });
      if (seen && reads) return true;
    }
    seen = seen || std::ranges::find(phase.steps, writer) != phase.steps.end();
  }
  return false;
}

// Returns whether step `w` writes a scratch buffer that step `s` changes element by element, and
// that nothing reads after that.
bool IsOverwritten(const Program& program, const Nest& nest, std::size_t w, std::size_t s) {
  const Step& first = nest.steps[w];
  const Step& last = nest.steps[s];
  const Buffer& source = BufferIn(program, first.buffer);
  if (first.kind != Step::Kind::kMap || nest.outer[w] || first.place != last.place ||
      source.kind != Buffer::Kind::kScratch ||
      source.dtype != BufferIn(program, last.buffer).dtype || first.buffer == last.buffer ||
      !ReadLater(nest, w))
    return false;
  for (std::size_t later = s + 1; later < nest.steps.size(); ++later)
    if (Loads(nest.steps[later].expr, first.buffer)) return false;
  return true;
}

void MoveBuffer(Nest& nest, int from, int into) {
  for (Step& step : nest.steps) {
    if (step.buffer == from) step.buffer = into;
    step.expr = WithLoads(step.expr, [&](const Expr& load) -> ExprPtr {
      auto moved = std::make_shared<Expr>(load);
      if (load.load.buffer == from) moved->load.buffer = into;
      return moved;
    });
  }
}

// Handles a result that the nest changes and writes again, element by element, to another buffer.
// The first write then goes to the place of the second, and the result needs no memory of its own.
void WriteInPlace(const Program& program, Nest& nest, const std::map<int, int>& readers) {
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    if (nest.steps[s].kind != Step::Kind::kMap || nest.outer[s]) continue;
    for (std::size_t w = 0; w < s; ++w) {
      const int buffer = nest.steps[w].buffer;
      const auto count = readers.find(buffer);
      if (count == readers.end() || count->second != 1 || !IsOverwritten(program, nest, w, s))
        continue;
      MoveBuffer(nest, buffer, nest.steps[s].buffer);
      break;
    }
  }
}

}  // namespace

std::map<int, int> ReadersOf(const std::vector<Nest>& nests) {
  std::map<int, int> readers;  // buffer -> number of nests that read it
  for (const Nest& nest : nests) {
    std::set<int> read;
    for (const Step& step : nest.steps)
      VisitLoads(step.expr, [&](const Load& load, ExprType) { read.insert(load.buffer); });
    for (const int buffer : read) ++readers[buffer];
  }
  return readers;
}

void ForwardInPasses(const Program& program, std::vector<Nest>& nests) {
  const std::map<int, int> before = ReadersOf(nests);
  for (Nest& nest : nests)
    if (!nest.anchored && nest.repeat < 0) WriteInPlace(program, nest, before);
  const std::map<int, int> readers = ReadersOf(nests);
  std::map<int, int> writers;
  for (const Nest& nest : nests)
    for (const Step& step : nest.steps) ++writers[step.buffer];
  for (Nest& nest : nests) {
    for (std::size_t s = 0; s < nest.steps.size(); ++s) {
      const int buffer = nest.steps[s].buffer;
      if (BufferIn(program, buffer).kind != Buffer::Kind::kScratch) continue;
      const auto count = readers.find(buffer);
      // Values for the next iteration of a repeat must be in memory, and the buffer has contents
      // before the first iteration.
      if (nest.repeat >= 0 && writers.at(buffer) > 1) continue;
      if (Reads(nest, buffer) && count != readers.end() && count->second == 1 &&
          !ReadLater(nest, s))
        nest.forwarded.insert(buffer);
    }
  }
}

void ForwardAlways(const Program& program, std::vector<Nest>& nests) {
  std::map<int, std::set<std::size_t>> users;
  for (std::size_t n = 0; n < nests.size(); ++n)
    for (const Step& step : nests[n].steps) {
      users[step.buffer].insert(n);
      VisitLoads(step.expr, [&](const Load& load, ExprType) { users[load.buffer].insert(n); });
    }
  for (Nest& nest : nests)
    for (const Step& step : nest.steps)
      if (BufferIn(program, step.buffer).kind == Buffer::Kind::kScratch &&
          users[step.buffer].size() == 1)
        nest.forwarded.insert(step.buffer);
}

}  // namespace pragma::expert
