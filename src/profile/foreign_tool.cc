#include "profile/foreign_tool.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "base/text.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "harness/instrumented_call.h"
#include "harness/worker_memory.h"
#include "machine/machine.h"
#include "profile/adapter.h"
#include "profile/callgrind.h"
#include "profile/providers.h"
#include "profile/workpiece.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kCallgrind = "callgrind";
constexpr Seconds kLimit{120};
// The number of calls for a tool that observes the whole program. With several calls the program's
// start and end weigh less.
constexpr int kCalls = 20;

void Keep(Workpiece& piece, std::vector<Metric> metrics) {
  for (Metric& metric : metrics) {
    if (!piece.metrics.Get(metric.tag)) piece.metrics.Add(std::move(metric));
  }
}

Result<ProviderNote> AskCallgrind(Workpiece& piece, const InstrumentedCall& call) {
  const ProfileSubject& subject = piece.subject;
  CallgrindOutcome outcome = TRY(RunCallgrind({.jail = subject.jail,
                                               .toolchains = subject.toolchains,
                                               .kernel_header = subject.kernel_header},
                                              subject.candidate, call));
  if (!outcome.text.empty()) outcome.note.detail += ": " + outcome.text;
  Keep(piece, std::move(outcome.metrics));
  return outcome.note;
}

Result<ProviderNote> AskAdapter(Workpiece& piece, const Adapter& adapter,
                                const InstrumentedCall& call) {
  const ProfileSubject& subject = piece.subject;
  const auto ended = [&](const char* verdict, std::string detail) {
    return ProviderNote{.name = adapter.name, .verdict = verdict, .detail = std::move(detail)};
  };
  if (!FindAdapterProgram(adapter)) return ended("absent", adapter.probe.install);
  const Toolchain toolchain = TRY(subject.toolchains.Find(subject.candidate.compiler));
  if (!toolchain.missing.empty()) return ended("absent", toolchain.missing);
  Candidate changed = subject.candidate;
  if (adapter.portable_program) changed.flags = CallgrindFlags(changed.flags);
  const Workshop shop =
      TRY(Workshop::Open(subject.jail, toolchain, changed, subject.kernel_header, call));
  const std::string failure = TRY(shop.BuildExecutable(changed, shop.Libraries(changed)));
  if (!failure.empty()) return ended("failed", failure);
  const AdapterRunner run = [&](const std::vector<std::string>& argv) {
    JailSpec spec = shop.Spec(argv, Workshop::Stage::kWriting);
    spec.env.merge(OpenMpEnvironment(adapter.portable_program ? 1 : subject.machine.threads));
    spec.env.insert(adapter.env.begin(), adapter.env.end());
    spec.fds = {{call.inputs->fd(), kInputsFd}};
    return subject.jail.Run(spec, {.wall = call.limit});
  };
  AdapterOutcome outcome = TRY(RunAdapter(adapter,
                                          {.program = {"/out/kernel"},
                                           .kernel = "pragma_kernel",
                                           .natives = {},
                                           .out = "/out/report",
                                           .out_here = shop.out() / "report",
                                           .caches = subject.machine.caches},
                                          run));
  Keep(piece, std::move(outcome.metrics));
  return outcome.note;
}

}  // namespace

Result<Adapter> FindAdapter(const std::string& wish, const std::filesystem::path& folder,
                            std::vector<std::string> known) {
  if (wish.find('/') != std::string::npos || wish.ends_with(".toml")) {
    Result<Adapter> own = LoadAdapter(wish);
    if (!own) return Fail(ErrorKind::kUsage, own.error().message);
    return own;
  }
  for (Adapter& adapter : TRY(LoadAdapters(folder))) {
    if (adapter.name == wish) return std::move(adapter);
    known.push_back(adapter.name);
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("there is no profiler {}; known are {}, or the path of an adapter's file "
                          "(docs/add-a-backend.md)",
                          wish, Join(known, ", ")));
}

namespace {

std::unexpected<Error> WrongKind(const std::string& tool, Language language) {
  const bool processor = RunsOnProcessor(language);
  return Fail(ErrorKind::kUsage,
              fmt::format("--with {}: it is for {}; a kernel in {} runs on {}", tool,
                          processor ? "accelerators" : "processors", LanguageName(language),
                          processor ? "the processor" : "an accelerator"));
}

}  // namespace

Result<ForeignTool> FindForeignTool(const std::string& wish, const std::filesystem::path& folder,
                                    Language language) {
  const bool processor = RunsOnProcessor(language);
  if (wish == kCallgrind && !processor) return WrongKind(wish, language);
  if (wish == kCallgrind) return ForeignTool{.name = wish, .adapter = {}};
  Adapter adapter = TRY(FindAdapter(wish, folder, processor ? Words{kCallgrind} : Words{}));
  if ((adapter.target == AdapterTarget::kCpu) != processor)
    return WrongKind(adapter.name, language);
  return ForeignTool{.name = adapter.name, .adapter = std::move(adapter)};
}

Result<void> AddForeignTools(Workpiece& piece) {
  const ProfileSubject& subject = piece.subject;
  if (subject.tools.empty()) return {};
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  const SharedMemory inputs = TRY(DrawInstrumentedInputs(subject.server));
  InstrumentedCall call = InstrumentedCallOf(subject.task(), subject.kernel, inputs);
  call.limit = kLimit;
  for (const ForeignTool& tool : subject.tools) {
    const TimePoint start = std::chrono::steady_clock::now();
    call.calls = tool.adapter ? kCalls : 1;
    ProviderNote note =
        TRY(tool.adapter ? AskAdapter(piece, *tool.adapter, call) : AskCallgrind(piece, call));
    note.seconds = Since(start).count();
    piece.notes.push_back(std::move(note));
  }
  return {};
}

}  // namespace pragma
