// ToolRunner: runs one compiler-side tool (compiler, llvm-mca) on texts of ours or a candidate's.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/jail.h"

namespace pragma {

using ToolFiles = std::map<std::string, std::string>;  // name -> text, seen in the tool's folder
// argv[0] is the tool's absolute path. What it has to tell it writes to stdout and stderr. An Error
// only for our own trouble: a tool that fails is a RunOutcome.
using ToolRunner =
    std::function<Result<Jail::RunOutcome>(const std::vector<std::string>&, const ToolFiles&)>;

// Each run in a jail of its own that sees the host's programs and libraries, the files (read-only,
// the working folder), and an empty /tmp. `jail` must outlive it.
[[nodiscard]] ToolRunner JailedTools(const Jail& jail, Seconds limit = Seconds{60});

// The first line of what a tool complained about that names an error, else the first; short.
[[nodiscard]] std::string ToolComplaint(const Jail::RunOutcome& run);

}  // namespace pragma
