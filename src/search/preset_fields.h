// The keys of a preset, defined in one place. Visitors read them from TOML, write them to and read
// them from JSON, and explain them in `pragma strategies NAME`. Private to search/.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "search/preset.h"

namespace pragma {

// The meaning of a key, and the values it accepts.
struct PresetKey {
  const char* name;
  const char* about;
  std::vector<std::string> words = {};  // allowed texts (also of list items); empty: any
  double least = 0;                     // minimum of a number
  double most = std::numeric_limits<double>::max();
};

constexpr double kHottest = 2;  // highest temperature that services accept

// Calls `visit(key, value)` for each key. `Rules` may be const.
template <class Rules, class Visit>
void VisitTree(Rules& tree, Visit&& visit) {
  visit(PresetKey{"epsilon", "chance of a random leaf instead of the best node", {}, 0, 1},
        tree.epsilon);
  visit(PresetKey{"root_children", "direct children that the reference may have", {}, 1},
        tree.root_children);
  visit(PresetKey{"dead_branch", "a node with more children than this, all failed, is given up"},
        tree.dead_branch);
  visit(PresetKey{"dead_at_least", "the other reading: with this many or more"},
        tree.dead_at_least);
  visit(PresetKey{"score", "what makes a node good", {"runtime", "speedup"}}, tree.score);
  visit(PresetKey{"leaders", "entries of the leaderboard, the reference among them"}, tree.leaders);
  visit(PresetKey{"leaders_refill",
                  "show this many of the best outside the subtree, not only the leaderboard's"},
        tree.leaders_refill);
  visit(PresetKey{"window", "nodes shown besides the selected one; a sample if there are more"},
        tree.window);
  visit(PresetKey{"repairs", "a failed attempt is repaired at once, this often in a row"},
        tree.repairs);
  visit(PresetKey{"most_children", "children of a passed node; 0: any number"}, tree.most_children);
  visit(PresetKey{"rewind_after",
                  "attempts without a new best until the best's branch rests; 0: never"},
        tree.rewind_after);
}

template <class Rules, class Visit>
void VisitBeam(Rules& beam, Visit&& visit) {
  visit(PresetKey{"kernels", "kept from round to round", {}, 1}, beam.kernels);
  visit(PresetKey{"bottlenecks", "of each kernel's diagnosis, worked on in one round", {}, 1},
        beam.bottlenecks);
  visit(PresetKey{"repairs", "of a failed attempt, before it is given up"}, beam.repairs);
}

template <class Rules, class Visit>
void VisitUcb(Rules& ucb, Visit&& visit) {
  visit(PresetKey{"exploration", "UCB1's constant, over rewards scaled to [0, 1]"},
        ucb.exploration);
  visit(PresetKey{"widening", "a node of v visits may have widening * v^power children", {}, 0.1},
        ucb.widening);
  visit(PresetKey{"power", "see widening", {}, 0.05, 1}, ucb.power);
}

template <class One, class Visit>
void VisitFamily(One& family, Visit&& visit) {
  visit(PresetKey{"name", "shown to the planner"}, family.name);
  visit(PresetKey{"about", "what it is, for the planner"}, family.about);
  visit(PresetKey{"classes", "diagnosis classes that it treats"}, family.classes);
  visit(PresetKey{"resource", "metric that is near 1 when nothing is left to gain"},
        family.resource);
  visit(PresetKey{"saturated", "value of the resource from which on the family is left out"},
        family.saturated);
}

// Visits the keys outside the tables.
template <class Whole, class Visit>
void VisitPreset(Whole& preset, Visit&& visit) {
  const std::vector<std::string> roles{"seed", "improve", "repair"};
  visit(PresetKey{"name", "as it is called"}, preset.name);
  visit(PresetKey{"summary", "one line"}, preset.summary);
  visit(PresetKey{"policy", "how the next node is chosen"}, preset.policy);
  visit(PresetKey{"history", "what linear policies show"}, preset.history);
  visit(PresetKey{"conductor", "a role decides on the change before another writes it"},
        preset.conductor);
  visit(PresetKey{"advises", "attempts for which it is asked", roles}, preset.advises);
  visit(PresetKey{"anchors", "it is a planner: it returns the source with the block marked"},
        preset.anchors);
  visit(PresetKey{"first_hop", "what a planner marks first", {"module", "skeleton"}},
        preset.first_hop);
  visit(PresetKey{"edit_check", "edits outside the marked block"}, preset.edit_check);
  visit(PresetKey{"debugger", "failed attempts are repaired by a separate role"}, preset.debugger);
  visit(PresetKey{"profile", "passed kernels are profiled, and the roles see it"}, preset.profile);
  visit(PresetKey{"conductor_prompt", "prompts/NAME.mustache"}, preset.conductor_prompt);
  visit(PresetKey{"coder_prompt", "prompts/NAME.mustache"}, preset.coder_prompt);
  visit(PresetKey{"debugger_prompt", "prompts/NAME.mustache"}, preset.debugger_prompt);
  visit(PresetKey{"conductor_temperature", "of its model", {}, 0, kHottest},
        preset.conductor_temperature);
  visit(PresetKey{"coder_temperature", "of its model", {}, 0, kHottest}, preset.coder_temperature);
  visit(PresetKey{"debugger_temperature", "of its model", {}, 0, kHottest},
        preset.debugger_temperature);
  visit(PresetKey{"attempts", "as in its paper, or a suitable number", {}, 1}, preset.attempts);
  visit(PresetKey{"stall_attempts", "stop after this many without a new best; 0: never"},
        preset.stall_attempts);
  visit(PresetKey{"tune_seconds", "for the tunables of each passed kernel; 0: not tuned"},
        preset.tune_seconds);
  visit(PresetKey{"seeds", "kernels to begin with", {"expert", "earlier"}}, preset.seeds);
}

}  // namespace pragma
