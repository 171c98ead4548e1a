// Strategy: which node to work on next, and what each role is shown.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/window.h"
#include "base/random.h"
#include "base/result.h"
#include "core/search_tree.h"
#include "core/trial.h"

namespace pragma {

struct Move {
  int node = 0;  // the node worked on; becomes the parent unless the advice's base says otherwise
  Role role = Role::kSeed;
  std::vector<int> others;  // further nodes shown to the roles, oldest first
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // A function of the tree alone (and of the strategy's own seed), so that a run can be resumed and
  // replayed: the same tree gives the same move.
  [[nodiscard]] virtual Move Next(const SearchTree& tree) = 0;
};

// A preset as data: strategies/<name>.toml.
struct Preset {
  std::string name;
  std::string summary;
  std::string policy = "linear";  // "linear", "independent", "conversation"
  std::string history = "best";   // what `others` holds: "best", "last", "all", "none"
  bool conductor = true;
  bool profile = false;  // profile feedback (later issue)
  std::string conductor_prompt = "conductor";
  std::string coder_prompt = "coder";
  double conductor_temperature = 0.7;
  double coder_temperature = 0.7;
  int attempts = 15;
  int stall_attempts = 0;  // stop after so many attempts without a new best; 0: never
};

[[nodiscard]] Result<Preset> LoadPreset(const std::string& strategies_dir,
                                        const std::string& name_or_path);
[[nodiscard]] Result<std::vector<Preset>> ListPresets(const std::string& strategies_dir);
[[nodiscard]] Result<std::unique_ptr<Strategy>> MakeStrategy(const Preset& preset,
                                                             const Seed& seed);

}  // namespace pragma
