// Lineage: how a candidate came about: its ancestors in the run, and the calls that made it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/advice.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "store/store.h"

namespace pragma {

struct Ancestor {
  int node = 0;
  int parent = 0;
  std::string author;
  std::string candidate;  // id; empty: the reply held no code
  Status status = Status::kUnsupported;
  std::optional<Interval> speedup_eager;
};

// One question to a model and what came back.
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
  std::string role;  // what the strategy asked for: "seed", "improve", "repair"
  std::string author;
  std::optional<Advice> advice;
  std::vector<Ancestor> ancestors;  // from the first below the reference down to the parent
  std::vector<LineageCall> calls;   // of this node
};

// Of a trial of `tree`; the calls come from the store.
[[nodiscard]] Result<Lineage> MakeLineage(const Store& store, const RunRecord& run,
                                          const SearchTree& tree, const Trial& trial);

// "coder command:sh /home/me/x" -> "coder command": evidence is for others, so of a model on this
// machine it keeps the kind, not the folder or command. Also takes a spec without a role.
[[nodiscard]] std::string WithoutPlace(std::string_view author);

}  // namespace pragma
