// Preset: a search strategy as data, strategies/<name>.toml. docs/strategies.md explains each key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/enum_names.h"

namespace pragma {

// [tree], for policy "epsilon_greedy": STARK's selection. docs/strategies.md has the source of each
// default.
struct TreeRules {
  double epsilon = 0.3;           // probability of a random leaf instead of the best node
  int root_children = 5;          // maximum number of direct children of the reference
  int dead_branch = 3;            // a node with more children than this, all failed, is abandoned
  bool dead_at_least = false;     // alternative reading: with this many or more
  std::string score = "runtime";  // "runtime": milliseconds; "speedup": paired ratio to eager
  int leaders = 2;                // entries of the leaderboard
  // Alternative reading of the paper: the leaders are the best `leaders` nodes outside the subtree.
  // Otherwise they are those entries of the leaderboard that are outside it.
  bool leaders_refill = false;
  int window = 5;         // nodes shown besides the selected one; a random sample if there are more
  int repairs = 0;        // consecutive immediate repairs of a failed attempt
  int most_children = 0;  // limit for a passed node; 0: unlimited
  int rewind_after = 0;   // attempts without a new best until its subtree is paused; 0: never
};

// [beam]
struct BeamRules {
  int kernels = 3;      // kept from round to round
  int bottlenecks = 2;  // number per kernel worked on in one round, from its diagnosis
  int repairs = 1;      // repairs of a failed attempt before it is abandoned
};

// [ucb]
struct UcbRules {
  double exploration = 0.7;  // constant of UCB1, for rewards scaled to [0, 1]
  double widening = 1;       // a node with v visits may have widening * v^power children
  double power = 0.5;
};

// [[family]]: a kind of optimisation, chosen by measured statistics (docs/strategies.md).
struct Family {
  std::string name;
  std::string about;                 // description for the prompt
  std::vector<std::string> classes;  // diagnosis classes that it addresses
  std::string resource;              // metric that is near 1 when nothing is left to gain
  double saturated = 0.75;           // value of that metric from which the family is left out
};

enum class PolicyKind : std::uint8_t {  // how the next node is chosen
  kLinear,
  kConversation,
  kIndependent,
  kEpsilonGreedy,
  kBeam,
  kUcb,
};
template <>
inline constexpr auto kEnumNames<PolicyKind> = std::to_array<std::string_view>(
    {"linear", "conversation", "independent", "epsilon_greedy", "beam", "ucb"});

enum class ShownHistory : std::uint8_t { kBest, kLast, kAll, kNone };  // in linear policies
template <>
inline constexpr auto kEnumNames<ShownHistory> =
    std::to_array<std::string_view>({"best", "last", "all", "none"});

enum class EditRule : std::uint8_t { kIgnore, kWarn, kReject };  // edits outside the block
template <>
inline constexpr auto kEnumNames<EditRule> =
    std::to_array<std::string_view>({"ignore", "warn", "reject"});

struct Preset {
  std::string name;
  std::string summary;
  PolicyKind policy = PolicyKind::kLinear;
  ShownHistory history = ShownHistory::kBest;
  // The run has a conductor or a planner.
  bool conductor = true;
  std::vector<std::string> advises = {"improve", "repair"};  // roles for which it is asked
  bool anchors = false;              // it is a planner: the whole source with the block marked
  std::string first_hop = "module";  // what a planner marks first: "module" or "skeleton"
  EditRule edit_check = EditRule::kWarn;
  bool debugger = false;  // repairs are made by a separate role
  bool profile = false;   // profile feedback
  std::string conductor_prompt = "conductor";
  std::string coder_prompt = "coder";
  std::string debugger_prompt = "debugger";
  double conductor_temperature = 0.7;
  double coder_temperature = 0.7;
  double debugger_temperature = 0.7;
  int attempts = 15;
  int stall_attempts = 0;          // stop after this many attempts without a new best; 0: never
  double tune_seconds = 0;         // for tuning each passed kernel
  std::vector<std::string> seeds;  // kernels to start with: "expert", "earlier"
  TreeRules tree;
  BeamRules beam;
  UcbRules ucb;
  std::vector<Family> families;
};

// Returns true for linear policies, where the advice decides which version the Coder starts from.
// In a tree the policy decides it.
[[nodiscard]] bool AdviceChoosesBase(const Preset& preset);

// A key with its value as text and its meaning. Keys of tables are written as "tree.epsilon".
// Tables that the policy does not read are left out.
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
