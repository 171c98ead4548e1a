#include "profile/tool_runner.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "build/compile.h"
#include "build/toolchain.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

constexpr std::size_t kOutputBytes = std::size_t{16} << 20U;
constexpr std::size_t kMemory = std::size_t{4} << 30U;
constexpr std::size_t kComplaintBytes = 200;

Toolchain Program(const std::string& path) {
  return {.path = path,
          .version = {},
          .identity = {},
          .clang = false,
          .library_folder = {},
          .missing = {}};
}

JailSpec ToolSpec(const std::vector<std::string>& argv, const TempDir& folder, Seconds limit) {
  JailSpec spec =
      CompilerJail(Program(argv.front()), folder.path() / "in", folder.path() / "out", argv);
  spec.binds.back().writable = false;
  spec.limits = {.address_space_bytes = kMemory,
                 .cpu = limit,
                 .file_bytes = std::size_t{64} << 20U,
                 .memory_bytes = kMemory,
                 .processes = 32,
                 .open_files = 256};
  return spec;
}

Result<Jail::RunOutcome> RunTool(const Jail& jail, Seconds limit,
                                 const std::vector<std::string>& argv, const ToolFiles& files) {
  if (argv.empty()) return Fail("no tool to run");
  const TempDir folder = TRY(TempDir::Create());
  TRY(MakeDirectories(folder.path() / "in"));
  TRY(MakeDirectories(folder.path() / "out"));
  for (const auto& [name, text] : files) TRY(WriteFileAtomic(folder.path() / "in" / name, text));
  return jail.Run(ToolSpec(argv, folder, limit), {.wall = limit, .max_output_bytes = kOutputBytes});
}

}  // namespace

ToolRunner JailedTools(const Jail& jail, Seconds limit) {
  return [&jail, limit](const std::vector<std::string>& argv, const ToolFiles& files) {
    return RunTool(jail, limit, argv, files);
  };
}

std::string ToolComplaint(const Jail::RunOutcome& run) {
  if (run.timed_out) return "not done within " + FormatSeconds(run.wall.count());
  const std::vector<std::string> lines = SplitLines(ToValidUtf8(run.err));
  const auto error = std::ranges::find_if(
      lines, [](const std::string& line) { return line.find("error:") != std::string::npos; });
  if (error != lines.end()) return Shorten(*error, kComplaintBytes);
  return lines.empty() ? run.outcome.Describe() : Shorten(lines.front(), kComplaintBytes);
}

}  // namespace pragma
