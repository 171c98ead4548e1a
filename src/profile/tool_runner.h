// ToolRunner: runs one compiler-side tool (compiler, llvm-mca) on our texts or a candidate's.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/jail.h"

namespace pragma {

using ToolFiles = std::map<std::string, std::string>;  // name -> text, in the tool's working folder
// argv[0] must be the tool's absolute path. The tool reports on stdout and stderr. An Error means
// that our own machinery failed. A tool that fails is a RunOutcome.
using ToolRunner =
    std::function<Result<Jail::RunOutcome>(const std::vector<std::string>&, const ToolFiles&)>;

// Runs each tool in a jail of its own, which sees the host's programs and libraries, the files
// (read-only, in the working folder) and an empty /tmp. `jail` must outlive the runner.
[[nodiscard]] ToolRunner JailedTools(const Jail& jail, Seconds limit = Seconds{60});

// Returns the first line of the tool's complaint that names an error, otherwise its first line,
// shortened.
[[nodiscard]] std::string ToolComplaint(const Jail::RunOutcome& run);

}  // namespace pragma
