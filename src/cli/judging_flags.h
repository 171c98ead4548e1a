// JudgingFlags holds how a command checks and times candidates, as given on the command line. The
// flags follow from the table of core/judging.h.
#pragma once

#include <string>

#include "app/settings.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/judging.h"
#include "sandbox/jail.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pragma {

// Serves as a CLI11 check. Returns an empty string if the text is a duration, else what is wrong.
[[nodiscard]] std::string DurationComplaint(const std::string& text);

// An object must outlive the parsing of the command line and stay where it is.
struct JudgingFlags {
  JudgingTexts given;
  std::string shapes_file;
  bool unsafe_no_sandbox = false;

  void AddTo(CLI::App& command);
  // Adds --shapes, for commands that judge one task.
  void AddShapesTo(CLI::App& command);
  // Adds --target, for commands that judge candidates for one target.
  void AddTargetTo(CLI::App& command);
  // Returns the language of the target that was given, else C++.
  [[nodiscard]] Language language() const { return JudgingFrom(given).language; }
  [[nodiscard]] SandboxMode sandbox() const {
    return unsafe_no_sandbox ? SandboxMode::kUnsafeNone : SandboxMode::kBest;
  }
  // Reads the file of shapes. An error names the file.
  [[nodiscard]] Result<void> ReadShapes();
  // Returns the options: what was given here, else in the settings, else the defaults.
  [[nodiscard]] JudgingOptions Over(const Settings& settings) const;
};

}  // namespace pragma
