// Writes the expert's source for tasks, without building or timing it:
//   pragma-expert-source PYTHON FOLDER [--triton[=KIB] | --all] TASK.py...
// KIB is the shared memory that a block may use on the GPU (default 227, an H100's). A task may
// also be a stored description by the PyTorch server (the "task" of its reply, NAME.json). FOLDER
// gets NAME/kernel.cpp and NAME/kernel.h, or NAME/solution.py and NAME/interface.txt. With --all it
// gets NAME.txt instead: the texts in both languages, for several processors and in many variants,
// with the choices that each leaves open. This does not depend on the machine, so that
// tools/expert_texts.sh can compare it before and after a change. One line per task reports the
// outcome.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "bench/describing_server.h"
#include "expert/expert.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"
#include "expert/task_writer.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma::expert {
namespace {

Result<std::string> WriteCandidate(const Task& task, const WrittenKernel& kernel, bool triton,
                                   const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  TRY(WriteFileAtomic(folder / (triton ? "solution.py" : "kernel.cpp"), kernel.source));
  TRY(WriteFileAtomic(folder / (triton ? "interface.txt" : "kernel.h"),
                      triton ? InterfaceText(task, Language::kTriton) : KernelHeader(task)));
  return fmt::format("{} bytes", kernel.source.size());
}

// Processors that differ in what decides about a text: vectors, threads and caches.
constexpr KernelTarget kBaseline{.threads = 1,
                                 .lanes = 4,
                                 .registers = 16,
                                 .private_cache_bytes = 256 << 10,
                                 .shared_cache_bytes = 4 << 20};
constexpr KernelTarget kAvx2{.threads = 2, .lanes = 8, .registers = 16};
constexpr KernelTarget kAvx512{.threads = 48,
                               .lanes = 16,
                               .registers = 32,
                               .private_cache_bytes = 2 << 20,
                               .shared_cache_bytes = 64 << 20};

// Returns the variants to print: the default, each other value of each choice alone, all tunables
// at their last value, and all choices at their last value.
std::vector<std::string> Variants(const std::vector<Choice>& open) {
  std::vector<std::string> variants{""};
  std::string tunables;
  std::string all;
  for (const Choice& choice : open) {
    const std::string last = fmt::format("{}={} ", choice.name, choice.values.back());
    all += last;
    if (IsTunable(choice)) {
      tunables += last;
      continue;
    }
    for (const int value : choice.values)
      if (value != choice.present) variants.push_back(fmt::format("{}={}", choice.name, value));
  }
  if (!tunables.empty()) variants.push_back(tunables);
  variants.push_back(all);
  return variants;
}

std::string InWords(const std::vector<Choice>& open) {
  std::string text;
  for (const Choice& choice : open)
    text += fmt::format("open: {}={} of {}\n", choice.name, choice.present,
                        fmt::join(choice.values, " "));
  return text;
}

Result<std::string> TextsFor(const Task& task, std::string_view name, const KernelTarget* target) {
  const TaskWriter writer(task, target == nullptr ? KernelTarget{} : *target);
  const Language language = target == nullptr ? Language::kTriton : Language::kCpp;
  std::string texts;
  for (const std::string& variant : Variants(TRY(writer.Write(language, {})).open)) {
    const WrittenKernel kernel = TRY(writer.Write(language, VariantFromText(variant)));
    texts += fmt::format("==== {} {}\n{}{}", name, variant, InWords(kernel.open), kernel.source);
  }
  return texts;
}

Result<std::string> WriteEvery(const Task& task, const std::filesystem::path& file) {
  std::string texts;
  texts += TRY(TextsFor(task, "baseline", &kBaseline));
  texts += TRY(TextsFor(task, "avx2", &kAvx2));
  texts += TRY(TextsFor(task, "avx512", &kAvx512));
  texts += TextsFor(task, "triton", nullptr).value_or("==== no Triton\n");
  TRY(WriteFileAtomic(file, texts));
  return fmt::format("{} bytes", texts.size());
}

enum class Wanted : std::uint8_t { kCpp, kTriton, kAll };

struct Destination {
  KernelTarget target;
  Wanted wanted = Wanted::kCpp;
  std::filesystem::path folder;
};

Result<std::string> WriteText(const Task& task, const std::string& name, const Destination& to) {
  if (to.wanted == Wanted::kAll) return WriteEvery(task, to.folder / (name + ".txt"));
  const bool triton = to.wanted == Wanted::kTriton;
  const TaskWriter writer(task, to.target);
  const WrittenKernel kernel = TRY(writer.Write(triton ? Language::kTriton : Language::kCpp, {}));
  return WriteCandidate(task, kernel, triton, to.folder / task.name);
}

Result<std::string> WriteSource(const Jail& jail, const TorchServerOptions& options,
                                const std::filesystem::path& file, const Destination& to) {
  if (file.extension() == ".json") {
    const std::string description = TRY(ReadFile(file));
    return WriteText(TRY(ParseTaskDescription(description)), file.stem().string(), to);
  }
  const TorchServer server = TRY(TorchServer::Start(jail, options, file));
  return WriteText(server.task(), file.stem().string(), to);
}

Result<void> WriteAll(std::span<char* const> tasks, const std::filesystem::path& python,
                      Destination to, std::int64_t shared_kib) {
  const Jail jail = TRY(Jail::Create(PRAGMA_PROGRAM_DIR, SandboxMode::kFull));
  const Machine machine = TRY(DescribeMachine());
  const TorchServerOptions options = DescribingServer(python, to.folder, machine.threads);
  to.target = TargetOf(machine);
  if (shared_kib > 0) to.target.block_shared_bytes = shared_kib << 10;
  for (const std::filesystem::path task : tasks) {
    const Result<std::string> written = WriteSource(jail, options, task, to);
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
  const std::string_view option = argc > 3 ? argv[3] : "";
  constexpr std::string_view kTritonFor = "--triton=";
  const bool sized = option.starts_with(kTritonFor);
  const Wanted wanted = option == "--triton" || sized ? Wanted::kTriton
                        : option == "--all"           ? Wanted::kAll
                                                      : Wanted::kCpp;
  const std::int64_t shared_kib = sized ? std::atoll(argv[3] + kTritonFor.size()) : 0;
  char** const first = argv + (wanted == Wanted::kCpp ? 3 : 4);
  if (argc < 4 || first == argv + argc) {
    std::fputs("usage: pragma-expert-source PYTHON FOLDER [--triton[=KIB] | --all] TASK.py...\n",
               stderr);
    return 2;
  }
  const auto done =
      WriteAll({first, argv + argc}, argv[1], {.wanted = wanted, .folder = argv[2]}, shared_kib);
  if (!done) {
    fmt::print(stderr, "pragma-expert-source: {}\n", done.error().message);
    return 3;
  }
  return 0;
}
