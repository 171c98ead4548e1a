// Preset: a search strategy as data, strategies/<name>.toml (docs/strategies.md explains each key).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pragma {

// [tree], of policy "epsilon_greedy": STARK's selection (docs/strategies.md has the source of each
// default).
struct TreeRules {
  double epsilon = 0.3;           // chance of a leaf drawn at random instead of the best node
  int root_children = 5;          // direct children that the reference may have
  int dead_branch = 3;            // a node with more children than this, all failed, is given up
  bool dead_at_least = false;     // the other reading: with so many or more
  std::string score = "runtime";  // "runtime": milliseconds; "speedup": the paired ratio to eager
  int leaders = 2;                // entries of the leaderboard
  // The other reading: the best so many outside the subtree; else those of the leaderboard that lie
  // outside.
  bool leaders_refill = false;
  int window = 5;         // nodes shown besides the selected one; more are drawn from at random
  int repairs = 0;        // a failed attempt is repaired at once, so often in a row
  int most_children = 0;  // of a passed node; 0: any number
  int rewind_after = 0;   // attempts without a new best until its subtree rests; 0: never
};

// [beam]
struct BeamRules {
  int kernels = 3;      // kept from round to round
  int bottlenecks = 2;  // of each one's diagnosis, worked on in one round
  int repairs = 1;      // of a failed attempt, before it is given up
};

// [ucb]
struct UcbRules {
  double exploration = 0.7;  // UCB1's constant, over rewards scaled to [0, 1]
  double widening = 1;       // a node of v visits may have widening * v^power children
  double power = 0.5;
};

// [[family]]: a kind of optimisation, chosen by measured statistics (docs/strategies.md).
struct Family {
  std::string name;
  std::string about;                 // for the prompt
  std::vector<std::string> classes;  // diagnosis classes that it treats
  std::string resource;              // metric that is near 1 when there is nothing left to gain
  double saturated = 0.75;           // of it: from here on the family is left out
};

struct Preset {
  std::string name;
  std::string summary;
  std::string policy = "linear";  // PolicyNames()
  std::string history = "best";   // linear ones: "best", "last", "all", "none"
  // Conductor or planner.
  bool conductor = true;
  std::vector<std::string> advises = {"improve", "repair"};  // for which roles it is asked
  bool anchors = false;              // it is a planner: the whole source with the block marked
  std::string first_hop = "module";  // what a planner marks first: "module" or "skeleton"
  std::string edit_check = "warn";   // edits outside the block: "ignore", "warn", "reject"
  bool debugger = false;             // repairs have a role of their own
  bool profile = false;              // profile feedback
  std::string conductor_prompt = "conductor";
  std::string coder_prompt = "coder";
  std::string debugger_prompt = "debugger";
  double conductor_temperature = 0.7;
  double coder_temperature = 0.7;
  double debugger_temperature = 0.7;
  int attempts = 15;
  int stall_attempts = 0;          // stop after so many attempts without a new best; 0: never
  double tune_seconds = 0;         // for the tunables of each passed kernel
  std::vector<std::string> seeds;  // kernels to begin with: "expert", "earlier"
  TreeRules tree;
  BeamRules beam;
  UcbRules ucb;
  std::vector<Family> families;
};

[[nodiscard]] const std::vector<std::string>& PolicyNames();

// Linear policies: the advice says which version the Coder starts from. In a tree the policy does.
[[nodiscard]] bool AdviceChoosesBase(const Preset& preset);

// A key with its value as text and what it means; keys of tables as "tree.epsilon". Tables that the
// policy does not read are left out.
struct PresetSetting {
  std::string key;
  std::string value;
  std::string about;
};
[[nodiscard]] std::vector<PresetSetting> Explain(const Preset& preset);

[[nodiscard]] Result<Preset> LoadPreset(const std::string& strategies_dir,
                                        const std::string& name_or_path);
[[nodiscard]] Result<std::vector<Preset>> ListPresets(const std::string& strategies_dir);

}  // namespace pragma
