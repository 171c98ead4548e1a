#include "profile/builds.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "build/assembly.h"
#include "build/block_counters.h"
#include "build/compile.h"
#include "build/toolchain.h"
#include "build/trace_calls.h"
#include "core/candidate.h"
#include "profile/subject.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kAssemblyBytes = std::size_t{64} << 20U;
constexpr Seconds kBuildLimit{120};

// Returns the builder's command, changed to stop at the assembly. The line numbers that it adds do
// not change the code.
Words AssemblyCommand(const Toolchain& toolchain, const Candidate& candidate) {
  Words words = CompileCommand(toolchain, candidate);
  std::ranges::replace(words, std::string("-c"), std::string("-S"));
  std::ranges::replace(words, std::string("/out/kernel.o"), std::string("/out/kernel.s"));
  words.insert(words.begin() + 1, "-g1");
  return words;
}

// Assembles and links in one command. All symbols stay visible, because the profiler looks up its
// tables.
Words ObjectCommand(const Toolchain& toolchain, const Candidate& candidate,
                    const std::string& object) {
  const std::string source = fs::path(object).stem().string() + ".s";
  Words words{toolchain.path,
              "-shared",
              "-nodefaultlibs",
              "-o",
              "/out/" + object,
              source,
              "-Wl,-z,now,-z,noexecstack",
              "-Wl,--as-needed"};
  const bool openmp = UsesOpenMp(candidate);
  if (openmp && toolchain.clang) words.push_back("-L" + toolchain.library_folder);
  if (openmp) words.emplace_back(toolchain.clang ? "-lomp" : "-lgomp");
  for (const char* library : {"-lstdc++", "-lm", "-lgcc_s", "-lgcc", "-lc", "-lgcc"})
    words.emplace_back(library);
  return words;
}

// Returns an empty string on success, otherwise the command's output.
Result<std::string> RunBuild(const ProfileSubject& subject, const KernelBuilds& builds,
                             Words argv) {
  const Jail::RunOutcome run =
      TRY(subject.jail.Run(builds.Spec(std::move(argv)), {.wall = kBuildLimit}));
  if (run.ok()) return std::string();
  const Words lines = SplitLines(ToValidUtf8(run.err));
  return Shorten(lines.empty() ? run.outcome.Describe() : lines.front(), 200);
}

Result<std::string> BuildObject(const ProfileSubject& subject, const KernelBuilds& builds,
                                const std::string& object, std::string text) {
  TRY(WriteFileAtomic(builds.in() / (fs::path(object).stem().string() + ".s"), text));
  return RunBuild(subject, builds, ObjectCommand(builds.toolchain, subject.candidate, object));
}

// Builds the three objects in parallel.
Result<std::string> BuildObjects(const ProfileSubject& subject, KernelBuilds& builds) {
  PlacedAssembly located = InsertPlaces(builds.assembly);
  builds.places = std::move(located.places);
  builds.trace = InsertTraceCalls(builds.assembly);
  std::vector<std::pair<std::string, std::string>> texts{
      {kPlainObject, std::move(located.text)},
      {kCountedObject, InsertBlockCounters(builds.assembly)},
      {kTracedObject, std::move(builds.trace.text)}};
  std::vector<std::future<Result<std::string>>> running;
  for (auto& [object, text] : texts) {
    running.push_back(std::async(std::launch::async, [&subject, &builds, &object, &text] {
      return BuildObject(subject, builds, object, std::move(text));
    }));
  }
  std::string failure;
  for (std::future<Result<std::string>>& one : running) {
    const Result<std::string> said = one.get();
    if (!said) return std::unexpected(said.error());
    if (failure.empty()) failure = *said;
  }
  return failure;
}

Result<void> WriteSources(const ProfileSubject& subject, const KernelBuilds& builds) {
  TRY(MakeDirectories(builds.in()));
  TRY(MakeDirectories(builds.out()));
  TRY(WriteFileAtomic(builds.in() / "kernel.cpp", subject.candidate.source()));
  return WriteFileAtomic(builds.in() / "kernel.h", subject.kernel_header);
}

Result<std::string> BuildAll(const ProfileSubject& subject, KernelBuilds& builds) {
  if (!CanInstrument()) return std::string("assembly is understood on x86-64 only");
  std::string failure =
      TRY(RunBuild(subject, builds, AssemblyCommand(builds.toolchain, subject.candidate)));
  if (!failure.empty()) return failure;
  builds.assembly = ParseAssembly(TRY(ReadForeignFile(builds.out() / "kernel.s", kAssemblyBytes)));
  return BuildObjects(subject, builds);
}

}  // namespace

JailSpec KernelBuilds::Spec(std::vector<std::string> argv) const {
  JailSpec spec = CompilerJail(toolchain, in(), out(), std::move(argv));
  spec.env["HOME"] = "/tmp";
  spec.limits = {.address_space_bytes = 0,
                 .cpu = Seconds{300},
                 .file_bytes = std::size_t{256} << 20U,
                 .memory_bytes = std::size_t{16} << 30U,
                 .processes = 512,
                 .open_files = 256};
  return spec;
}

Result<KernelBuilds> BuildForProfile(const ProfileSubject& subject) {
  KernelBuilds builds{.toolchain = TRY(subject.toolchains.Find(subject.candidate.compiler)),
                      .folder = TRY(TempDir::Create()),
                      .failure = {},
                      .assembly = {},
                      .places = {},
                      .trace = {}};
  TRY(WriteSources(subject, builds));
  builds.failure = TRY(BuildAll(subject, builds));
  if (builds.failure.empty()) return builds;
  builds.assembly = {};
  const std::string object = TRY(ReadFile(subject.kernel.shared_object));
  TRY(WriteFileAtomic(builds.out() / kPlainObject, object));
  return builds;
}

}  // namespace pragma
