// EditCheck: how a candidate relates to the block that its planner marked.
#pragma once

namespace pragma {

struct EditCheck {
  int planner_lines = 0;  // lines outside the block that the planner lost from the version it
                          // started from
  int coder_lines = 0;    // lines outside the block that the candidate lost from the marked source
  [[nodiscard]] bool inside() const { return coder_lines == 0; }
};

}  // namespace pragma
