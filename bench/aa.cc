// pragma-aa TASK KERNEL [OTHER] [COUNT] [BUDGET_SECONDS] [SEED]
//
// Times one kernel against itself (or against OTHER) COUNT times. Each time it makes a whole
// comparison, as `evaluate` does. It prints one JSON line per comparison: {"ratio": time of KERNEL
// over time of OTHER, "low", "high", "better": whether KERNEL would become the best, "ms",
// "seconds", and what other programs did: "others", "disturbed", "bursts", "rounds", "left_out",
// "noisy"}. SEED is a number; without one, the order of the bursts is drawn anew.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "machine/load_reader.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/host_calls.h"
#include "verify/host_sides.h"
#include "verify/noise.h"
#include "verify/options.h"
#include "verify/stage.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_rounds.h"
#include "verify/timing_run.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

struct Arguments {
  std::string task;
  std::string kernel;
  std::string other;
  int count = 20;
  double budget = 1.0;
  std::optional<std::uint64_t> seed;
};

Result<BuiltKernel> BuildFile(const Builder& builder, const Task& task, const std::string& path) {
  const std::string source = TRY(ReadFile(path));
  BuildOutcome outcome = TRY(builder.Build(CppCandidate(source), KernelHeader(task)));
  if (const auto* failure = std::get_if<BuildFailure>(&outcome))
    return Fail(path + ": " + failure->reason);
  return std::get<BuiltKernel>(std::move(outcome));
}

// Makes one untimed pass, which draws the pool of inputs and estimates the times for the plan.
Result<TimingPlan> Plan(const HostParts& parts, std::size_t draws, const BuiltKernel& kernel,
                        Rng& rng, double budget) {
  Stage& stage = parts.stage;
  double upkeep = 0;
  double run = 1e9;
  double empty = 1e9;
  WorkerProcess worker = TRY(WorkerProcess::Start(parts.jail, parts.libraries, kernel, stage.task(),
                                                  stage.ring(), parts.worker));
  if (auto failure = TRY(worker.Load())) return Fail(failure->reason);
  const auto compare = [&](std::uint32_t slot) {
    return stage.Compare(worker, slot, stage.Tolerances(slot));
  };
  for (std::size_t i = 0; i < draws; ++i) {
    const auto slot = static_cast<std::uint32_t>(i % stage.sets());
    TRY(stage.DrawSet(i, rng() >> 1U, slot));
    Nanoseconds elapsed{0};
    const std::vector<std::uint32_t> sets{slot};
    if (auto failure = TRY(worker.Run(sets, &elapsed))) return Fail(failure->reason);
    if (const Comparison compared = compare(slot); !compared.ok)
      return Fail("the kernel is wrong: " + compared.reason);
    Nanoseconds doorbell{0};
    if (auto failure = TRY(worker.RunEmpty(sets, &doorbell))) return Fail(failure->reason);
    run = std::min(run, Seconds(elapsed).count());
    empty = std::min(empty, Seconds(doorbell).count());
    const TimePoint before = std::chrono::steady_clock::now();
    TRY(stage.RenewSets(sets, rng));
    for (int side = 0; side < 2; ++side) static_cast<void>(compare(slot));
    upkeep = Seconds(std::chrono::steady_clock::now() - before).count();
  }
  return MakePlan({.sets = stage.sets(),
                   .round_seconds = 2 * std::max(run - empty, 1e-6),
                   .upkeep_seconds = upkeep},
                  Seconds{budget});
}

// Makes a whole comparison. As in `evaluate`, a win is measured again and the second time counts.
Result<TimingOutcome> Contest(const HostParts& parts, const std::vector<Side>& sides,
                              const TimingPlan& plan, const NoiseRules& noise, Rng& rng) {
  SystemClock clock;
  HostSides processes(parts, sides);
  const TimingScene scene{
      .sets = parts.stage,
      .sides = processes,
      .clock = clock,
      .processors = {.allowed = parts.worker.threads, .available = parts.machine.threads},
      .noise = noise};
  TimingOutcome first = TRY(RunTiming(scene, plan, rng));
  if (!Beats(first, 0, 1)) return first;
  return RunTiming(scene, plan, rng);
}

Result<void> RunComparisons(const Arguments& arguments, const std::string& program_dir) {
  const Jail jail = TRY(Jail::Create(program_dir, SandboxMode::kFull));
  Machine machine = TRY(DescribeMachine());
  const TempDir cache = TRY(TempDir::Create());
  const std::filesystem::path source(PRAGMA_SOURCE_DIR);
  TorchServer server = TRY(TorchServer::Start(jail,
                                              {.python = source / ".venv/bin/python",
                                               .package_root = source / "python",
                                               .cache_dir = cache.path() / "torch",
                                               .threads = machine.threads},
                                              arguments.task));
  const Builder builder(jail, cache.path() / "build");
  const std::vector<std::string> libraries = TRY(WorkerLibraries(jail));
  const BuiltKernel kernel = TRY(BuildFile(builder, server.task(), arguments.kernel));
  const BuiltKernel other = TRY(BuildFile(builder, server.task(), arguments.other));
  const StageSize size =
      ChooseStageSize(server.task(), CacheState::kWarm, machine.last_level_cache_bytes(), 5);
  Stage stage = TRY(Stage::Create(server, size));
  const VerifyOptions options;
  const HostParts parts{.stage = stage,
                        .jail = jail,
                        .machine = machine,
                        .libraries = libraries,
                        .options = options,
                        .worker = {.threads = machine.threads}};
  Rng rng(arguments.seed ? DeriveSeed(Seed{}, fmt::format("aa {}", *arguments.seed))
                         : SystemSeed());
  const LoadReader load;
  const NoiseRules noise{.read = [&load] { return load.Read(); },
                         .width = options.judging.interval_width / 100.0,
                         .time = Seconds{3 * arguments.budget}};
  const TimingPlan plan = TRY(Plan(parts, size.draws, kernel, rng, arguments.budget));
  const std::vector<Side> sides{{.kernel = &kernel}, {.role = SideRole::kBest, .kernel = &other}};
  std::cerr << fmt::format("plan: {} sets, warm-up {}, timed {}, bursts {}\n", stage.sets(),
                           plan.warmup, plan.timed, plan.bursts);
  for (int i = 0; i < arguments.count && !Interrupted(); ++i) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
    const auto start = std::chrono::steady_clock::now();
    const TimingOutcome outcome = TRY(Contest(parts, sides, plan, noise, rng));
    if (outcome.failed) return Fail(outcome.failed->failure.reason);
    const Interval ratio = outcome.Ratio(0, 1);
    const Load& found = outcome.load;
    std::cout << fmt::format(
                     R"({{"ratio":{:.6f},"low":{:.6f},"high":{:.6f},"better":{},"ms":{:.6f},)"
                     R"("seconds":{:.3f},"others":{:.3f},"disturbed":{},"bursts":{},"rounds":{},)"
                     R"("left_out":{},"noisy":{}}})",
                     ratio.median, ratio.low, ratio.high, Beats(outcome, 0, 1),
                     outcome.sides[0].Milliseconds().median,
                     Seconds(std::chrono::steady_clock::now() - start).count(), found.others,
                     found.disturbed, found.bursts, found.rounds, found.rounds_left_out,
                     !outcome.noisy.empty())
              << std::endl;
  }
  return {};
}

}  // namespace
}  // namespace pragma

int main(int argc, char** argv) {
  pragma::InstallInterruptHandlers();
  if (argc < 3) {
    std::cerr << "usage: pragma-aa TASK KERNEL [OTHER] [COUNT] [BUDGET_SECONDS] [SEED]\n";
    return 2;
  }
  pragma::Arguments arguments{
      .task = argv[1], .kernel = argv[2], .other = argc > 3 ? argv[3] : argv[2]};
  if (argc > 4) arguments.count = std::atoi(argv[4]);
  if (argc > 5) arguments.budget = std::atof(argv[5]);
  if (argc > 6) arguments.seed = std::strtoull(argv[6], nullptr, 10);
  const std::string program_dir = std::filesystem::canonical("/proc/self/exe").parent_path();
  if (auto done = pragma::RunComparisons(arguments, program_dir); !done) {
    std::cerr << "pragma-aa: " << done.error().message << "\n";
    return 3;
  }
  return 0;
}
