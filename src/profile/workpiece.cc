#include "profile/workpiece.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "base/text.h"
#include "harness/ring.h"
#include "harness/worker_memory.h"
#include "profile/builds.h"
#include "profile/subject.h"
#include "sandbox/jail.h"
#include "task/set_layout.h"
#include "worker/load/kernel_memory.h"

namespace pragma {
namespace {

constexpr std::size_t kMostSets = 64;
constexpr std::size_t kReportBytes = std::size_t{64} << 20U;

// Returns the number of input sets in a warm timing's ring, which is two if not even two sets fit
// into the last-level cache.
std::size_t RingSets(const ProfileSubject& subject) {
  const std::size_t set = std::max<std::size_t>(subject.task().set_bytes(), 1);
  return std::clamp<std::size_t>(subject.machine.last_level_cache_bytes() * 3 / 4 / set, 2,
                                 kMostSets);
}

Result<void> FillRing(const ProfileSubject& subject, Ring& ring) {
  const std::size_t bytes = std::max<std::size_t>(PackedLayout(subject.task()).argument_bytes, 1);
  SharedMemory drawn = TRY(SharedMemory::Create("pragma-profile", bytes));
  TRY(subject.server.Draw(Rng(SystemSeed())() >> 1U, drawn, 0));
  for (std::size_t set = 0; set < ring.sets(); ++set) ring.Fill(subject.task(), set, drawn.bytes());
  return {};
}

JailSpec HostSpec(const Workpiece& piece, const HostRun& run, const std::string& result) {
  std::vector<std::string> argv{"/pragma-profiler", run.mode, "/out/" + run.object,
                                "/out/" + result};
  argv.insert(argv.end(), run.options.begin(), run.options.end());
  JailSpec spec = piece.builds->Spec(std::move(argv));
  spec.env.merge(OpenMpEnvironment(run.threads));
  // A kernel may request a number of threads on its own.
  spec.env["OMP_THREAD_LIMIT"] = std::to_string(run.threads);
  if (run.waiting_sleeps) spec.env["OMP_WAIT_POLICY"] = "passive";
  spec.binds.push_back(
      {piece.subject.jail.program_dir() + "/pragma-profiler", "/pragma-profiler", false});
  spec.proc = true;  // for the threads' own times
  spec.fds = {{piece.memory.control.fd(), kControlFd},
              {piece.ring.inputs().fd(), kInputFd},
              {piece.memory.outputs.fd(), kOutputFd},
              {piece.memory.scratch.fd(), kScratchFd}};
  return spec;
}

HostReport Failed(std::string why) { return {.failure = std::move(why), .lines = {}}; }

}  // namespace

Result<Workpiece> OpenWorkpiece(const ProfileSubject& subject) {
  Ring ring = TRY(Ring::Create(subject.task(), RingSets(subject)));
  TRY(FillRing(subject, ring));
  WorkerMemory memory = TRY(MakeWorkerMemory(subject.task(), ring, subject.kernel));
  return Workpiece{.subject = subject, .ring = std::move(ring), .memory = std::move(memory)};
}

std::optional<double> HostReport::Number(const std::string& word) const {
  for (const std::vector<std::string>& line : lines) {
    if (line.size() >= 2 && line[0] == word) return std::strtod(line[1].c_str(), nullptr);
  }
  return std::nullopt;
}

HostReport ReadHostReport(const std::string& text) {
  HostReport report;
  bool ended = false;
  for (const std::string& line : SplitLines(text)) {
    ended = line == "end";
    if (!ended) report.lines.push_back(Split(line, ' '));
  }
  return ended ? report : Failed("the kernel ended before its profile was complete");
}

Result<HostReport> RunHost(const Workpiece& piece, const HostRun& run) {
  if (!piece.builds) return Failed("there is no build to run");
  const std::string result = run.mode + std::to_string(run.threads) + ".txt";
  const Jail::RunOutcome ran = TRY(
      piece.subject.jail.Run(HostSpec(piece, run, result), {.wall = Seconds{run.limit_seconds}}));
  if (ran.timed_out) return Failed("not done within " + FormatSeconds(run.limit_seconds));
  if (!ran.ok()) {
    const std::vector<std::string> lines = SplitLines(ToValidUtf8(ran.err));
    return Failed(lines.empty() ? ran.outcome.Describe() : Shorten(lines.front(), 200));
  }
  const Result<std::string> text = ReadForeignFile(piece.builds->out() / result, kReportBytes);
  return text ? ReadHostReport(*text) : Failed(text.error().message);
}

}  // namespace pragma
