// Trial: one attempt of a run. It is a node of the SearchTree.
#pragma once

#include <optional>
#include <string>

#include "core/advice.h"
#include "core/candidate.h"
#include "core/edit_check.h"
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/role.h"
#include "core/spent.h"

namespace pragma {

struct Trial {
  int node = 0;  // 1, 2, ... in order of creation; 0 is the reference (the root)
  int parent = 0;
  Role role = Role::kSeed;
  std::string author;  // "coder openai:NAME"
  std::optional<Advice> advice;
  std::optional<Candidate> candidate;  // nullopt: the reply held no usable code (status
                                       // unsupported)
  Evaluation evaluation;
  std::optional<Profile> profile;
  std::string focus;              // what the strategy asked to work on; empty: anything
  std::optional<EditCheck> edit;  // present where a planner marked a block of C++
  Spent spent;                    // cost of this attempt in model calls and harness time
  bool best = false;              // true: it became the best when it was made
};

}  // namespace pragma
