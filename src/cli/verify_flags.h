// VerifyFlags holds how a command checks and times candidates, as given on the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/settings.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "verify/verifier.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pragma {

// Serves as a CLI11 check. Returns an empty string if the text is a duration, else what is wrong.
[[nodiscard]] std::string DurationComplaint(const std::string& text);

struct VerifyFlags {
  std::string mode;   // empty: from the settings, else strict
  std::string cache;  // empty: from the settings, else warm
  int threads = 0;
  std::string run_limit;  // duration, checked when parsed; empty: the default, also below
  std::string task_limit;
  std::string shapes_file;
  std::string shapes;  // the text of shapes_file, once it was read
  bool strict_nan = false;
  bool unsafe_no_sandbox = false;
  std::string target;                // empty: cpu
  std::vector<std::string> devices;  // Device::number; empty: the first GPU

  void AddTo(CLI::App& command);
  // Adds --shapes, for commands that judge one task.
  void AddShapesTo(CLI::App& command);
  // Adds --target, for commands that judge candidates for one target.
  void AddTargetTo(CLI::App& command);
  [[nodiscard]] Target runs_on() const { return TargetFromName(target).value_or(Target::kCpu); }
  // Reads the file of shapes. An error names the file.
  [[nodiscard]] Result<void> ReadShapes();
  // Returns a copy in which empty members are filled in from the settings.
  [[nodiscard]] VerifyFlags With(const Settings& settings) const;
  [[nodiscard]] VerifyOptions options() const;
  // Returns the flags that a run stores, so that it is resumed with the same ones.
  [[nodiscard]] std::map<std::string, std::string> AsOptions() const;
  [[nodiscard]] static VerifyFlags FromOptions(const std::map<std::string, std::string>& options);
  [[nodiscard]] WorkbenchOptions workbench_options() const;
};

}  // namespace pragma
