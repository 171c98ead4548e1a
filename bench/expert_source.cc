// What the expert writes for tasks, without building or timing it:
//   pragma-expert-source PYTHON FOLDER TASK.py...
// FOLDER gets NAME/kernel.cpp and NAME/kernel.h; one line a task tells the outcome.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "expert/emit_kernel.h"
#include "expert/expert.h"
#include "expert/lowering.h"
#include "expert/variant.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

Result<std::string> WriteKernel(const TorchServer& server, const std::filesystem::path& folder) {
  const Task& task = server.task();
  Program program = TRY(LowerTask(task));
  const Machine machine = TRY(DescribeMachine());
  const std::string text = EmitKernel(task, std::move(program), TargetOf(machine), {});
  std::filesystem::create_directories(folder / task.name);
  TRY(WriteFileAtomic(folder / task.name / "kernel.h", KernelHeader(task)));
  TRY(WriteFileAtomic(folder / task.name / "kernel.cpp", text));
  return fmt::format("{} bytes", text.size());
}

Result<std::string> Try(const Jail& jail, TorchServerOptions options,
                        const std::filesystem::path& folder, const std::filesystem::path& task) {
  options.cache_dir = folder / "cache";
  std::filesystem::create_directories(options.cache_dir);
  const TorchServer server = TRY(TorchServer::Start(jail, options, task));
  return WriteKernel(server, folder);
}

}  // namespace
}  // namespace pragma

int main(int argc, char** argv) {
  using namespace pragma;
  if (argc < 4) {
    std::fputs("usage: pragma-expert-source PYTHON FOLDER TASK.py...\n", stderr);
    return 2;
  }
  const auto jail = Jail::Create(PRAGMA_PROGRAM_DIR, SandboxMode::kRequired);
  if (!jail) {
    fmt::print(stderr, "pragma-expert-source: {}\n", jail.error().message);
    return 3;
  }
  const TorchServerOptions options{.python = argv[1],
                                   .package_root = PRAGMA_SOURCE_DIR "/python",
                                   .threads = 2,
                                   .timers = std::nullopt};
  for (int i = 3; i < argc; ++i) {
    const auto written = Try(*jail, options, argv[2], argv[i]);
    fmt::print("{}: {}\n", std::filesystem::path(argv[i]).stem().string(),
               written ? *written : "refused: " + written.error().message);
    std::fflush(stdout);
  }
  return 0;
}
