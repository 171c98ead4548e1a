// Writes the expert's source for tasks, without building or timing it:
//   pragma-expert-source PYTHON FOLDER [--triton] TASK.py...
// A task may also be a stored description by the PyTorch server (the "task" of its reply,
// NAME.json). FOLDER gets NAME/kernel.cpp and NAME/kernel.h, or NAME/solution.py and
// NAME/interface.txt. One line per task reports the outcome.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "bench/describing_server.h"
#include "expert/cpp/emit_kernel.h"
#include "expert/expert.h"
#include "expert/lower/lowering.h"
#include "expert/plan/variant.h"
#include "expert/triton/module.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma::expert {
namespace {

Result<std::string> WriteKernel(const Task& task, const KernelTarget& target,
                                const std::filesystem::path& folder) {
  Program program = TRY(LowerTask(task));
  const std::string text = EmitKernel(task, std::move(program), target, {});
  std::filesystem::create_directories(folder / task.name);
  TRY(WriteFileAtomic(folder / task.name / "kernel.h", KernelHeader(task)));
  TRY(WriteFileAtomic(folder / task.name / "kernel.cpp", text));
  return fmt::format("{} bytes", text.size());
}

Result<std::string> WriteTriton(const Task& task, const std::filesystem::path& folder) {
  Program program = TRY(LowerTask(task));
  const std::string text = EmitTriton(task, std::move(program), {});
  std::filesystem::create_directories(folder / task.name);
  TRY(WriteFileAtomic(folder / task.name / "solution.py", text));
  TRY(WriteFileAtomic(folder / task.name / "interface.txt",
                      InterfaceText(task, Language::kTriton)));
  return fmt::format("{} bytes", text.size());
}

struct Destination {
  KernelTarget target;
  bool triton = false;
  std::filesystem::path folder;
};

Result<std::string> WriteText(const Task& task, const Destination& to) {
  return to.triton ? WriteTriton(task, to.folder) : WriteKernel(task, to.target, to.folder);
}

Result<std::string> WriteSource(const Jail& jail, const TorchServerOptions& options,
                                const std::filesystem::path& file, const Destination& to) {
  if (file.extension() == ".json") {
    const std::string description = TRY(ReadFile(file));
    return WriteText(TRY(ParseTaskDescription(description)), to);
  }
  const TorchServer server = TRY(TorchServer::Start(jail, options, file));
  return WriteText(server.task(), to);
}

Result<void> WriteAll(std::span<char* const> tasks, bool triton,
                      const std::filesystem::path& python, const std::filesystem::path& folder) {
  const Jail jail = TRY(Jail::Create(PRAGMA_PROGRAM_DIR, SandboxMode::kRequired));
  const Machine machine = TRY(DescribeMachine());
  const TorchServerOptions options = DescribingServer(python, folder, machine.threads);
  for (const std::filesystem::path task : tasks) {
    const Result<std::string> written =
        WriteSource(jail, options, task, {TargetOf(machine), triton, folder});
    fmt::print("{}: {}\n", task.stem().string(),
               written ? *written : "refused: " + written.error().message);
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace pragma::expert

int main(int argc, char** argv) {
  using namespace pragma::expert;
  const bool triton = argc > 3 && std::string_view(argv[3]) == "--triton";
  char** const first = argv + (triton ? 4 : 3);
  if (argc < 4 || first == argv + argc) {
    std::fputs("usage: pragma-expert-source PYTHON FOLDER [--triton] TASK.py...\n", stderr);
    return 2;
  }
  const auto done = WriteAll({first, argv + argc}, triton, argv[1], argv[2]);
  if (!done) {
    fmt::print(stderr, "pragma-expert-source: {}\n", done.error().message);
    return 3;
  }
  return 0;
}
