// Trial: one attempt of a run; a node of the SearchTree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/advice.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/profile.h"

namespace pragma {

// What the strategy asked for.
enum class Role : std::uint8_t { kSeed, kImprove, kRepair };
[[nodiscard]] std::string_view RoleName(Role role);  // "seed", "improve", "repair"

struct Spent {
  double seconds = 0;
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  double usd = 0;
  [[nodiscard]] std::int64_t tokens() const { return tokens_in + tokens_out; }
  Spent& operator+=(const Spent& other);
};

// How a candidate relates to the block that its planner had marked.
struct EditCheck {
  int planner_lines =
      0;                // of the version it was made from, outside the block, that the planner lost
  int coder_lines = 0;  // of the marked source, outside the block, that the candidate lost
  [[nodiscard]] bool inside() const { return coder_lines == 0; }
};

struct Trial {
  int node = 0;  // 1, 2, ... in order of creation; 0 is the reference (the root)
  int parent = 0;
  Role role = Role::kSeed;
  std::string author;  // "coder openai:NAME"
  std::optional<Advice> advice;
  std::optional<Candidate> candidate;  // none: no usable code in the reply (status unsupported)
  Evaluation evaluation;
  std::optional<Profile> profile;
  std::string focus;              // what the strategy asked to work on; empty: anything
  std::optional<EditCheck> edit;  // where a planner marked a block of C++
  Spent spent;                    // model calls and harness time of this attempt
  bool best = false;              // became the best when it was made
};

}  // namespace pragma
