// Lineage: the origin of a candidate: its ancestors in the run, and the model calls that produced
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/advice.h"
#include "core/status.h"
#include "core/timing.h"
#include "store/store.h"

namespace pragma {

class SearchTree;
struct Trial;

struct Ancestor {
  int node = 0;
  int parent = 0;
  std::string author;
  std::string candidate;  // id; empty: the reply contained no code
  Status status = Status::kUnsupported;
  std::optional<Interval> speedup_eager;
};

// One question to a model and its reply.
struct LineageCall {
  std::string role;
  int ordinal = 0;
  std::string model;
  std::string messages;    // JSON
  std::string completion;  // JSON
};

struct Lineage {
  std::string run;
  std::string strategy;
  int node = 0;
  std::string role;  // task set by the strategy: "seed", "improve", "repair"
  std::string author;
  std::optional<Advice> advice;
  std::vector<Ancestor> ancestors;  // from the first one below the reference to the parent
  std::vector<LineageCall> calls;   // calls of this node
};

// Makes the lineage of a trial of `tree`. The calls come from the store.
[[nodiscard]] Result<Lineage> MakeLineage(const Store& store, const RunRecord& run,
                                          const SearchTree& tree, const Trial& trial);

// Turns "coder command:sh /home/me/x" into "coder command". Evidence is passed on to other people,
// so for a model on this machine it keeps the kind, but not the folder or command. Also accepts a
// spec without a role.
[[nodiscard]] std::string WithoutPlace(std::string_view author);

}  // namespace pragma
