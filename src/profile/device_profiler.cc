#include "profile/device_profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/text.h"
#include "build/toolchain.h"
#include "core/backend.h"
#include "core/candidate.h"
#include "core/device.h"
#include "core/profile.h"
#include "core/task.h"
#include "machine/machine.h"
#include "profile/adapter.h"
#include "profile/device_call.h"
#include "profile/diagnosis.h"
#include "profile/foreign_tool.h"
#include "profile/launches.h"
#include "profile/metrics.h"
#include "profile/ncu_advice.h"
#include "profile/rules.h"
#include "profile/sass.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

constexpr std::size_t kLaunchesBytes = std::size_t{4} << 20U;
constexpr std::size_t kMostAdvice = 4;

// What is known about the candidate so far.
struct Observed {
  const DeviceSubject& subject;
  DeviceCall call;
  MetricSet metrics;
  CallLaunches launches;
  [[nodiscard]] const Backend& backend() const { return subject.machine.device->backend; }
};

std::string LastComplaint(const Jail::RunOutcome& run) {
  const std::vector<std::string> lines = SplitLines(ToValidUtf8(run.err));
  return lines.empty() ? run.outcome.Describe() : Shorten(lines.back(), 300);
}

// Searches below /usr, which is all that the jail of a call sees. The path is empty if there is
// none.
std::string FindCuobjdump() {
  std::vector<std::string> folders = PathFolders();
  folders.emplace_back("/usr/local/cuda/bin");
  std::erase_if(folders, [](const std::string& folder) { return !folder.starts_with("/usr/"); });
  return FindProgram("cuobjdump", folders);
}

std::string FileOf(const Candidate& candidate) {
  return candidate.language == Language::kCuda ? "kernel.cu" : "kernel.py";
}

Result<ProviderNote> AddLaunches(Observed& observed) {
  ProviderNote note{.name = "launches", .verdict = "failed", .detail = {}};
  const Jail::RunOutcome run = TRY(observed.call.Run(observed.call.Command("launches")));
  if (run.timed_out || !run.ok()) {
    note.detail = run.timed_out ? "not done within the time" : LastComplaint(run);
    return note;
  }
  const Result<std::string> text =
      ReadForeignFile(observed.call.out() / "launches", kLaunchesBytes);
  Result<CallLaunches> launches =
      text ? ParseLaunches(*text) : Result<CallLaunches>(std::unexpected(text.error()));
  if (!launches) {
    note.detail = launches.error().message;
    return note;
  }
  observed.launches = std::move(*launches);
  AddLaunchMetrics(observed.launches, observed.metrics);
  note.verdict = "ran";
  return note;
}

// Returns the name of the kernel that runs longest in a call, without its parameters, for a tool
// that is told which kernel to count. Empty if it is not known, or if the tool counts all.
std::string KernelFor(const Adapter& adapter, const CallLaunches& launches) {
  const auto names_it = [](const std::string& argument) {
    return argument.find("{kernel}") != std::string::npos;
  };
  const Launch* longest = LongestLaunch(launches);
  if (longest == nullptr || std::ranges::none_of(adapter.command, names_it)) return {};
  return longest->kernel.substr(0, longest->kernel.find('('));
}

Result<ProviderNote> AddCountersOf(Observed& observed, const Adapter& adapter) {
  const auto run = [&](const std::vector<std::string>& argv) {
    return observed.call.Run(argv, adapter.env);
  };
  const std::string report = "report-" + adapter.name;
  AdapterOutcome outcome = TRY(RunAdapter(adapter,
                                          {.program = observed.call.Command("region"),
                                           .kernel = KernelFor(adapter, observed.launches),
                                           .natives = {},
                                           .out = "/out/" + report,
                                           .out_here = observed.call.out() / report,
                                           .caches = {}},
                                          run));
  for (Metric& metric : outcome.metrics) observed.metrics.Add(std::move(metric));
  return outcome.note;
}

// Runs the profiler of the device's backend.
Result<ProviderNote> AddDeviceCounters(Observed& observed) {
  const Backend& backend = observed.backend();
  if (backend.profiler.empty()) {
    return ProviderNote{.name = "counters",
                        .verdict = "absent",
                        .detail = "no profiler of " + backend.name + " is known"};
  }
  return AddCountersOf(observed, TRY(FindAdapter(backend.profiler, observed.subject.adapters)));
}

// Runs the further tools that were asked for.
Result<ProviderNote> AddFurtherTools(Observed& observed) {
  ProviderNote all{.name = "with", .verdict = "ran", .detail = {}};
  for (const ForeignTool& tool : observed.subject.tools) {
    const ProviderNote note = TRY(AddCountersOf(observed, *tool.adapter));
    all.detail += fmt::format("{}{}: {} {}", all.detail.empty() ? "" : "; ", note.name,
                              note.verdict, note.detail);
  }
  return all;
}

// Applies ncu's own rules to its full set of counters. One run writes a report and another reads
// it.
Result<ProviderNote> AddAdvice(Observed& observed) {
  ProviderNote note{.name = "ncu rules", .verdict = "skipped", .detail = "asked for with --full"};
  if (observed.subject.counters != CounterSet::kFull) return note;
  const Adapter adapter = TRY(FindAdapter(observed.backend().advice, observed.subject.adapters));
  const std::optional<std::filesystem::path> ncu = FindAdapterProgram(adapter);
  if (!ncu) {
    note.verdict = "absent";
    note.detail = adapter.probe.install;
    return note;
  }
  std::vector<std::string> count{
      ncu->string(), "--set",           "full", "--import-source",   "no", "--profile-from-start",
      "off",         "--clock-control", "none", "--force-overwrite", "-o", "/out/full"};
  std::ranges::move(observed.call.Command("region"), std::back_inserter(count));
  const Jail::RunOutcome counted = TRY(observed.call.Run(count));
  const Jail::RunOutcome read =
      TRY(observed.call.Run({ncu->string(), "-i", "/out/full.ncu-rep", "--csv", "--page", "details",
                             "--print-units", "base"}));
  const std::vector<std::string> advice = ParseNcuAdvice(read.out, kMostAdvice);
  note.verdict = advice.empty() ? "failed" : "ran";
  note.detail = advice.empty() ? LastComplaint(counted.ok() ? read : counted) : Join(advice, " | ");
  return note;
}

// Returns the mix of the kernel that runs longest in a call. If no launch is known, it returns the
// only kernel of the code, if there is just one.
const SassMix* LongestOf(const std::vector<SassMix>& kernels, const CallLaunches& launches) {
  const Launch* longest = LongestLaunch(launches);
  if (longest == nullptr) return kernels.size() == 1 ? &kernels.front() : nullptr;
  const auto found = std::ranges::find(kernels, longest->kernel, &SassMix::kernel);
  return found == kernels.end() ? nullptr : &*found;
}

Result<ProviderNote> AddSass(Observed& observed) {
  ProviderNote note{.name = "sass", .verdict = "failed", .detail = {}};
  const std::string lister = FindCuobjdump();
  if (lister.empty()) {
    note.verdict = "absent";
    note.detail = "cuobjdump of the CUDA toolkit is not on PATH";
    return note;
  }
  std::vector<SassMix> kernels;
  for (const std::string& object : observed.call.Objects()) {
    const Jail::RunOutcome run = TRY(observed.call.Run({lister, "-sass", object}));
    std::ranges::move(ParseSass(ToValidUtf8(run.out)), std::back_inserter(kernels));
  }
  const SassMix* longest = LongestOf(kernels, observed.launches);
  if (longest == nullptr) {
    note.detail = "the listing has no kernel that was launched";
    return note;
  }
  AddSassMetrics(*longest, observed.metrics);
  note.verdict = "ran";
  note.detail = longest->kernel;
  return note;
}

// Compares the task's roofline on this device with the time that the evaluation measured.
Result<ProviderNote> AddDeviceRoofs(Observed& observed) {
  ProviderNote note{.name = "roofline", .verdict = "ran", .detail = {}};
  const DeviceSubject& subject = observed.subject;
  const Device& device = *subject.machine.device;
  const Task& task = subject.server.task();
  MetricSet& metrics = observed.metrics;
  const auto bytes = static_cast<double>(task.compulsory_bytes);
  metrics.Add("task_flops", task.flops, "1", "static");
  metrics.Add("compulsory_bytes", bytes, "B", "static");
  if (bytes > 0) metrics.Add("arithmetic_intensity", task.flops / bytes, "1", "static");
  const double gbs = subject.data == DeviceData::kInCache ? device.l2_gbs() : device.copy_gbs();
  if (subject.time_ms <= 0 || gbs <= 0 || device.fp32_gflops() <= 0) {
    note.verdict = "skipped";
    note.detail = "the time of a call or the device's peaks are not known";
    return note;
  }
  const double memory = bytes / gbs * 1e-6;
  const double compute = task.flops / device.fp32_gflops() * 1e-6;
  metrics.Add("time_ms", subject.time_ms, "ms", "measured");
  metrics.Add("bound_ms", std::max(memory, compute), "ms", "estimated");
  metrics.Add("roofline_share", std::max(memory, compute) / subject.time_ms, "1", "estimated");
  metrics.Add("compute_share", compute / subject.time_ms, "1", "estimated");
  metrics.Add("bandwidth_share", memory / subject.time_ms, "1", "estimated");
  note.detail = memory > compute ? "memory bandwidth is the nearer roof"
                                 : "plain fp32 arithmetic is the nearer roof";
  return note;
}

// Adds the time that a call takes beyond its kernels. Calls are issued back to back, so a launch
// that is hidden behind the previous kernel costs nothing.
void AddGap(const DeviceSubject& subject, MetricSet& metrics) {
  const std::optional<double> busy = metrics.Get("gpu_kernel_time");
  if (!busy || subject.time_ms <= 0) return;
  metrics.Add("gpu_launch_gap", std::max(0.0, subject.time_ms * 1000 - *busy), "us", "estimated");
}

struct DeviceProvider {
  std::string name;
  Result<ProviderNote> (*add)(Observed&);
};

// Returns the sources of a profile on devices of the backend, in the order in which they run.
std::vector<DeviceProvider> ProvidersFor(const DeviceSubject& subject) {
  const Backend& backend = subject.machine.device->backend;
  std::vector<DeviceProvider> providers{
      {"launches", AddLaunches},
      {backend.profiler.empty() ? "counters" : backend.profiler, AddDeviceCounters}};
  if (!subject.tools.empty()) providers.push_back({"further tools", AddFurtherTools});
  if (backend.advice == "ncu") providers.push_back({"ncu rules", AddAdvice});
  if (backend.listing == "cuobjdump") providers.push_back({"sass", AddSass});
  providers.push_back({"roofline", AddDeviceRoofs});
  return providers;
}

}  // namespace

Result<Profile> ProfileOnDevice(const DeviceSubject& subject, const RuleSet& rules,
                                const ProfileProgress& progress) {
  // The clocks and counters belong to the device, so no other process may time kernels on it
  // meanwhile.
  const MachineLock lock =
      TRY(MachineLock::Take(MachineLock::Kind::kExclusive, subject.machine.device));
  if (progress) progress("profile: inputs");
  Observed observed{
      .subject = subject, .call = TRY(DeviceCall::Make(subject)), .metrics = {}, .launches = {}};
  Profile profile;
  for (const auto& [name, add] : ProvidersFor(subject)) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while profiling");
    if (progress) progress(fmt::format("profile: {}", name));
    const TimePoint start = std::chrono::steady_clock::now();
    ProviderNote note = TRY(add(observed));
    note.seconds = Since(start).count();
    profile.providers.push_back(std::move(note));
  }
  AddGap(subject, observed.metrics);
  profile.hot = HotKernels(observed.launches, FileOf(subject.candidate));
  profile.metrics = std::move(observed.metrics).Take();
  profile.diagnosis = Diagnose(rules, profile.metrics);
  return profile;
}

}  // namespace pragma
