// Authors: the part of an attempt that models perform, from a move to a trial that is not yet
// judged. Private to search/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/window.h"
#include "base/result.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/preset.h"
#include "search/session.h"
#include "search/strategy.h"

namespace pragma {

// The outcome of an attempt: a trial, or the reason why the run ends. In the latter case the trial
// only says what was spent.
struct Written {
  std::optional<Trial> trial;
  StopReason stopped = StopReason::kNone;
  std::optional<Error> failure = {};  // of the model, which is why the run ends
  bool no_code = false;               // the author's replies had no code that could be used
};

// Borrows all its arguments. Several threads may call it at the same time, each with its own tree.
class Authors final {
 public:
  Authors(const std::string& run, const SessionParts& parts, const Preset& preset,
          const Budget& budget)
      : run_(run), parts_(parts), preset_(preset), budget_(budget) {}

  // `seen` is the tree on which the strategy based its decision.
  [[nodiscard]] Result<Written> Write(const SearchTree& seen, const InFlight& flight) const;

 private:
  [[nodiscard]] Result<Written> Ask(const SearchTree& seen, const InFlight& flight) const;
  [[nodiscard]] bool Advises(const Move& move) const;
  [[nodiscard]] bool Debugs(const Trial& trial) const;
  [[nodiscard]] Result<void> Advise(const Window& window, Trial& trial) const;
  // Returns whether the replies had no code, and no word that it cannot be written.
  [[nodiscard]] Result<bool> Propose(const Window& window, Trial& trial) const;
  [[nodiscard]] Window WindowFor(const SearchTree& tree, const InFlight& flight,
                                 const std::vector<int>& others) const;
  void CheckEdit(const SearchTree& seen, Trial& trial) const;

  const std::string& run_;
  const SessionParts& parts_;
  const Preset& preset_;
  const Budget& budget_;
};

}  // namespace pragma
