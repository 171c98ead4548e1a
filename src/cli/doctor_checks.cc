#include "cli/doctor_checks.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/paths.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "core/backend.h"
#include "core/device.h"
#include "machine/machine.h"
#include "machine/processors.h"
#include "profile/adapter.h"
#include "sandbox/cgroup.h"
#include "sandbox/jail.h"
#include "store/store.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// Returns the first line that a program prints, or nullopt if it cannot be run or fails.
std::optional<std::string> FirstLine(const std::vector<std::string>& argv, double limit = 20) {
  const Result<RunResult> run =
      RunProcess({.argv = argv, .inherit_env = true}, {.wall = Seconds(limit)});
  if (!run || run->timed_out || !run->status.ok()) return std::nullopt;
  const std::vector<std::string> lines = SplitLines(run->out.empty() ? run->err : run->out);
  return lines.empty() ? "" : lines.front();
}

// Checks for the first of `programs` that runs, and shows its version line.
DoctorItem Program(const std::string& name, const std::vector<std::string>& programs,
                   const std::string& remedy) {
  DoctorItem item{.name = name};
  for (const std::string& program : programs) {
    const std::optional<std::string> version = FirstLine({program, "--version"});
    if (!version) continue;
    item.detail = program + ": " + *version;
    return item;
  }
  item.state = ItemState::kMissing;
  item.detail = "not found: " + Join(programs, ", ");
  item.remedy = remedy;
  return item;
}

DoctorItem Needed(DoctorItem item) {
  item.needed = true;
  return item;
}

DoctorItem Sandbox(const Paths& paths) {
  DoctorItem item{.name = "sandbox", .needed = true};
  const Result<Jail> jail = Jail::Create(paths.programs.string(), SandboxMode::kBest);
  if (jail && jail->kind() == JailKind::kFull) {
    item.detail = "bubblewrap works: " + Join(jail->protections(), ", ");
    return item;
  }
  item.state = jail ? ItemState::kLimited : ItemState::kMissing;
  item.detail = jail ? fmt::format("{}; the reduced jail works, trust: {}: {}", jail->why_reduced(),
                                   jail->Trust(), Join(jail->protections(), ", "))
                     : jail.error().message;
  item.remedy =
      "apt-get install bubblewrap, and allow unprivileged user namespaces; in Docker: docker run "
      "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
      "systempaths=unconfined (docs/containers.md)";
  return item;
}

DoctorItem Cgroups() {
  DoctorItem item{.name = "cgroups"};
  const Result<CgroupPlace> place = FindCgroups();
  if (place) {
    item.detail =
        fmt::format("v{}: compilers and Python candidates are limited as a whole", place->version);
    return item;
  }
  item.state = ItemState::kLimited;
  item.detail = place.error().message + "; limited by rlimits instead, process by process";
  return item;
}

// Tells whether the compiler builds and links a small program with `flag`.
bool Compiles(const std::string& compiler, const std::string& flag) {
  const Result<TempDir> folder = TempDir::Create();
  if (!folder) return false;
  const std::string source = (folder->path() / "probe.cpp").string();
  if (!WriteFileAtomic(source,
                       "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n")) {
    return false;
  }
  const std::string out = (folder->path() / "probe").string();
  return FirstLine({compiler, flag, source, "-o", out}).has_value();
}

DoctorItem OpenMp(const std::vector<std::string>& compilers) {
  DoctorItem item{.name = "OpenMP"};
  std::vector<std::string> with;
  for (const std::string& compiler : compilers) {
    if (FirstLine({compiler, "--version"}) && Compiles(compiler, "-fopenmp"))
      with.push_back(compiler);
  }
  item.detail = with.empty() ? "no compiler links it" : "with " + Join(with, ", ");
  if (with.empty()) {
    item.state = ItemState::kMissing;
    item.remedy = "apt-get install libgomp1 (g++) or libomp-19-dev (clang)";
  }
  return item;
}

DoctorItem Torch(const Paths& paths) {
  DoctorItem item{.name = "python and torch", .needed = true};
  const std::optional<std::string> versions = FirstLine(
      {paths.python.string(), "-c",
       "import sys, torch; print('python', sys.version.split()[0] + ', torch', torch.__version__)"},
      120);
  item.detail = paths.python.string() + (versions ? ": " + *versions : ": cannot import torch");
  if (versions) return item;
  item.state = ItemState::kMissing;
  item.remedy = "make venv in the source folder, or --python FILE of an interpreter that has torch";
  return item;
}

DoctorItem Counters() {
  DoctorItem item{.name = "hardware counters"};
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const UniqueFd counter(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (counter.valid()) {
    item.detail = "cycles can be counted";
    return item;
  }
  const int error = errno;
  item.state = ItemState::kLimited;
  item.detail =
      fmt::format("perf_event_open: {}", std::strerror(error));  // NOLINT(concurrency-mt-unsafe)
  const bool denied = error == EACCES || error == EPERM;
  item.remedy = denied ? "sysctl kernel.perf_event_paranoid=1 (or run where counters are allowed)"
                       : "this machine (or its hypervisor) shows no counters; nothing to install";
  return item;
}

std::string DeviceText(const Device& device) {
  return fmt::format("{}, driver {}, {} memory, L2 {}, peak {:.0f} GB/s", device.name,
                     device.driver, FormatBytes(static_cast<double>(device.memory_bytes)),
                     FormatBytes(static_cast<double>(device.l2_bytes)), device.memory_gbs);
}

// Looks for the device that kernels would be measured on, of any backend that runs kernels.
DoctorItem Gpu(const std::vector<Backend>& backends, const Paths& paths) {
  std::vector<std::string> reasons;
  for (const Backend& backend : backends) {
    if (backend.languages.empty()) continue;
    const Result<Device> device = FindDevice(backend, paths.programs.string());
    if (device) return {.name = "GPU", .detail = DeviceText(*device)};
    reasons.push_back(backend.name + ": " + device.error().message);
  }
  return {.name = "GPU", .state = ItemState::kLimited, .detail = "none: " + Join(reasons, "; ")};
}

// Lists what kernels can be written in for each backend, and what is not so yet.
DoctorItem BackendList(const std::vector<Backend>& backends) {
  std::vector<std::string> lines;
  for (const Backend& backend : backends) {
    std::string line = backend.name;
    if (!backend.languages.empty()) line += " in " + Join(backend.languages, " and ");
    if (!backend.caveat.empty()) line += " (" + backend.caveat + ")";
    lines.push_back(std::move(line));
  }
  return {.name = "backends", .detail = Join(lines, "; ")};
}

std::vector<DoctorItem> BackendItems(const Paths& paths) {
  const Result<std::vector<Backend>> backends = LoadBackends(paths.knowledge() / "backends");
  if (backends) return {Gpu(*backends, paths), BackendList(*backends)};
  return {{.name = "GPU", .state = ItemState::kLimited, .detail = backends.error().message}};
}

// Checks whether the Python that has Torch also has Triton, and whether Torch sees a GPU there.
DoctorItem Triton(const Paths& paths) {
  DoctorItem item{.name = "Triton"};
  const std::optional<std::string> found =
      FirstLine({paths.python.string(), "-c",
                 "import torch, triton; print(triton.__version__ + (', on the GPU' if "
                 "torch.cuda.is_available()"
                 " else ', in its interpreter: checks of kernels, no times'))"},
                120);
  item.detail = found.value_or("not installed alongside torch");
  if (found) return item;
  item.state = ItemState::kLimited;
  item.remedy = paths.python.string() + " -m pip install triton (to judge Triton kernels)";
  return item;
}

fs::path ExistingParent(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error);
  while (!fs::exists(path, error) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return path;
}

DoctorItem Disk(const fs::path& home) {
  DoctorItem item{.name = "disk"};
  struct statvfs figures{};
  const fs::path folder = ExistingParent(home);
  if (::statvfs(folder.c_str(), &figures) != 0) {
    item.state = ItemState::kLimited;
    item.detail = "cannot look at " + folder.string();
    return item;
  }
  const double free = static_cast<double>(figures.f_bavail) * static_cast<double>(figures.f_frsize);
  item.detail = FormatBytes(free) + " free for " + home.string();
  if (free < 1e9) {
    item.state = ItemState::kLimited;
    item.remedy = "free some space, or move the folder with --home";
  }
  return item;
}

std::string CachesText(const Machine& machine) {
  std::string text;
  for (const CacheLevel& cache : machine.caches) {
    text += fmt::format(", L{} {}", cache.level, FormatBytes(static_cast<double>(cache.bytes)));
  }
  return text;
}

DoctorItem Processor() {
  DoctorItem item{.name = "processor", .needed = true};
  const Result<Machine> machine = DescribeMachine();
  if (!machine) {
    item.state = ItemState::kMissing;
    item.detail = machine.error().message;
    return item;
  }
  item.detail =
      fmt::format("{}, {}, {} memory{}", machine->cpu, UsableProcessors().Text(),
                  FormatBytes(static_cast<double>(machine->memory_bytes)), CachesText(*machine));
  return item;
}

DoctorItem Programs(const Paths& paths) {
  DoctorItem item{.name = "pragma's parts", .needed = true};
  const Result<void> complete = CheckPaths(paths);
  item.detail = complete ? "in " + paths.programs.string() : complete.error().message;
  if (!complete) {
    item.state = ItemState::kMissing;
    item.remedy = "make, or install pragma again";
  }
  return item;
}

DoctorItem Locks() {
  DoctorItem item{.name = "timing lock", .needed = true};
  const Result<MachineLock> lock = MachineLock::Take(MachineLock::Kind::kShared);
  item.detail = lock ? "works" : lock.error().message;
  if (!lock) item.state = ItemState::kMissing;
  return item;
}

DoctorItem Clang() {
  return Program("clang++",
                 {"clang++", "clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++-14"},
                 "apt-get install clang-19 (a second compiler for candidates)");
}

// Lists the tools that `pragma profile --with` can use.
DoctorItem ForeignProfilers(const Paths& paths) {
  DoctorItem item{.name = "foreign profilers"};
  const Result<std::vector<Adapter>> adapters = LoadAdapters(paths.knowledge() / "adapters");
  if (!adapters) {
    item.state = ItemState::kLimited;
    item.detail = adapters.error().message;
    return item;
  }
  std::vector<std::string> there;
  std::vector<std::string> absent;
  for (const Adapter& adapter : *adapters)
    (FindAdapterProgram(adapter) ? there : absent).push_back(adapter.name);
  item.detail = there.empty() ? "none" : Join(there, ", ");
  if (!absent.empty()) item.detail += "; not installed: " + Join(absent, ", ");
  return item;
}

}  // namespace

std::vector<DoctorItem> ExamineMachine(const Paths& paths, const fs::path& home) {
  std::vector<DoctorItem> items{
      Processor(),
      Programs(paths),
      Sandbox(paths),
      Cgroups(),
      Needed(Program("g++", {"g++"}, "apt-get install g++")),
      Clang(),
      OpenMp({"g++", "clang++", "clang++-19"}),
      Torch(paths),
      Locks(),
      Counters(),
      Program("valgrind", {"valgrind"},
              "apt-get install valgrind (exact counts where counters are missing)"),
      Program("llvm-mca", {"llvm-mca", "llvm-mca-19", "llvm-mca-14"}, "apt-get install llvm-19"),
      ForeignProfilers(paths),
  };
  for (DoctorItem& item : BackendItems(paths)) items.push_back(std::move(item));
  items.push_back(Triton(paths));
  items.push_back(Program("nvcc", {"nvcc", "/usr/local/cuda/bin/nvcc"}, ""));
  items.push_back(Program("ncu", {"ncu", "/usr/local/cuda/bin/ncu"}, ""));
  items.push_back(Disk(home));
  return items;
}

}  // namespace pragma
