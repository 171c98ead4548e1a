#include "app/workbench.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/context.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/backend.h"
#include "core/candidate.h"
#include "core/device.h"
#include "knowledge/metric_file.h"
#include "machine/machine.h"
#include "machine/processors.h"
#include "profile/rules.h"
#include "sandbox/jail.h"
#include "store/store.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

std::string MachineKey(const Machine& machine) {
  return fmt::format("{}{}/{}", kMachineFigures, machine.fingerprint, machine.threads);
}

// Returns the machine with the figures in the store, or nullopt if the store has none.
std::optional<Machine> StoredMachine(Store& store, const Machine& described) {
  const Result<std::optional<std::string>> kept = store.GetFigure(MachineKey(described));
  if (!kept || !*kept) return std::nullopt;
  Result<Machine> known = MachineFromJson(**kept);
  if (!known || known->peak_gflops <= 0 || known->bf16_gflops < 0) return std::nullopt;
  known->caches = described.caches;  // older entries know less about caches
  known->device = described.device;  // never stored
  return std::move(*known);
}

// Returns the machine without its figures.
Result<Machine> MachineWith(int threads) {
  Machine machine = TRY(DescribeMachine());
  if (threads > machine.threads) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--threads {}: only {} can run here at once ({})", threads,
                            machine.threads, UsableProcessors().Text()));
  }
  if (threads > 0) machine.threads = threads;
  return machine;
}

// Returns the machine with peaks and bandwidths from the store, or measures and stores them now.
Result<Machine> MeasuredMachine(Store& store, const std::string& programs, int threads) {
  Machine machine = TRY(MachineWith(threads));
  if (std::optional<Machine> known = StoredMachine(store, machine)) return std::move(*known);
  Log(LogLevel::kInfo, "measuring this machine's peak and bandwidths, once");
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  TRY(MeasureMachine(machine, programs));
  TRY(store.PutFigure(MachineKey(machine), MachineToJson(machine)));
  return machine;
}

// Finds the device that candidates in the language are measured on. Without one they are only
// checked.
Result<void> AddDevice(Machine& machine, const AppContext& context, Language language,
                       const std::string& number) {
  const std::vector<Backend> backends = TRY(LoadBackends(context.paths.knowledge() / "backends"));
  Result<Device> device =
      FindDeviceFor(language, backends, context.paths.programs.string(), number);
  if (device) {
    if (!device->backend.caveat.empty())
      Log(LogLevel::kWarning, device->backend.name + ": " + device->backend.caveat);
    machine.device = std::move(*device);
  } else {
    Log(LogLevel::kWarning, "no GPU to measure on: " + device.error().message);
  }
  return {};
}

SandboxMode WantedSandbox(const Settings& settings, SandboxMode given) {
  if (given != SandboxMode::kBest || settings.jail.empty()) return given;
  return settings.jail == "full" ? SandboxMode::kFull : SandboxMode::kReduced;
}

void SayWhatIsMissing(const Jail& jail) {
  if (jail.kind() != JailKind::kReduced) return;
  Log(LogLevel::kWarning,
      fmt::format("the reduced jail is used ({}); trust: {}; docs/containers.md says what a full "
                  "one needs",
                  jail.why_reduced().empty() ? "as asked" : jail.why_reduced(), jail.Trust()));
}

}  // namespace

WorkbenchOptions WorkbenchFor(const JudgingOptions& judging, SandboxMode sandbox) {
  return {.threads = judging.threads,
          .sandbox = sandbox,
          .language = judging.language,
          .devices = judging.devices,
          .build_limit = judging.build_limit,
          .task_limit = judging.task_limit};
}

Workbench::Workbench(const AppContext& context, Jail jail, Store store, Machine machine,
                     const WorkbenchOptions& options)
    : paths_(context.paths),
      home_(std::filesystem::absolute(context.home)),
      task_limit_(options.task_limit),
      jail_(std::move(jail)),
      store_(std::move(store)),
      machine_(std::move(machine)),
      builder_(jail_, home_ / "cache" / "build",
               LimitsFor(machine_.memory_bytes, options.build_limit)) {
  if (machine_.device) builder_.SetCapability(machine_.device->capability);
}

Result<std::unique_ptr<Workbench>> Workbench::Create(const AppContext& context,
                                                     const WorkbenchOptions& options) {
  TRY(CheckPaths(context.paths));
  Jail jail = TRY(Jail::Create(context.paths.programs.string(),
                               WantedSandbox(context.settings, options.sandbox)));
  SayWhatIsMissing(jail);
  Store store = TRY(Store::Open(context.home));
  const std::string programs = context.paths.programs.string();
  Machine machine = TRY(options.timed ? MeasuredMachine(store, programs, options.threads)
                                      : MachineWith(options.threads));
  std::optional<DeviceSeat> seat;
  if (!RunsOnProcessor(options.language)) {
    if (!options.devices.empty()) seat = TRY(DeviceSeat::Take(options.devices));
    TRY(AddDevice(machine, context, options.language, seat ? seat->number() : ""));
  }
  std::unique_ptr<Workbench> bench(
      new Workbench(context, std::move(jail), std::move(store), std::move(machine), options));
  bench->seat_ = std::move(seat);
  bench->metrics_ = TRY(LoadMetrics(context.paths.knowledge()));
  return bench;
}

std::filesystem::path Workbench::RulesFile(Language language) const {
  const std::filesystem::path folder = knowledge() / "diagnosis";
  if (RunsOnProcessor(language)) return folder / "cpu.toml";
  return folder / (machine_.device ? machine_.device->backend.rules : "gpu.toml");
}

Result<RuleSet> Workbench::RulesFor(Language language) const {
  return LoadRules(RulesFile(language), metrics_);
}

Machine Workbench::KnownMachine() { return StoredMachine(store_, machine_).value_or(machine_); }

void Workbench::KeepFigures(const Machine& measured) {
  const Machine known = KnownMachine();
  const std::string text = MachineToJson(BetterFigures(known, measured));
  if (text == MachineToJson(known)) return;
  const Result<void> saved = store_.PutFigure(MachineKey(machine_), text);
  if (!saved)
    Log(LogLevel::kWarning, "the machine's figures are not kept: " + saved.error().message);
}

TorchServerOptions Workbench::torch_options() const {
  TorchServerOptions options;
  options.python = paths_.python;
  options.package_root = paths_.package_root();
  options.cache_dir = home_ / "cache" / "torch";
  options.threads = machine_.threads;
  // Torch does not see a GPU if the driver's device is the host's memory.
  if (machine_.device && !machine_.device->host_memory) options.device = machine_.device;
  options.describe_limit = task_limit_;
  return options;
}

}  // namespace pragma
