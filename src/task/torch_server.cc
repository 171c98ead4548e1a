#include "task/torch_server.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "base/text.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/task.h"
#include "sandbox/jail.h"
#include "task/set_layout.h"
#include "task/torch_channel.h"
#include "task/torch_jail.h"
#include "task/torch_process.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr double kUsableShareOfMemory = 0.8;
constexpr Seconds kHelloLimit{60};

// Returns the number in a one-number file, or 0 if there is none ("max" counts as none).
std::size_t NumberIn(const fs::path& path) {
  const Result<std::string> text = ReadFile(path);
  std::size_t number = 0;
  if (text) std::istringstream(*text) >> number;
  return number;
}

std::size_t FreeMemory() {
  const Result<std::string> text = ReadFile("/proc/meminfo");
  std::size_t available = 0;
  constexpr std::string_view kField = "MemAvailable:";
  for (const std::string& line : SplitLines(text.value_or(""))) {
    if (!line.starts_with(kField)) continue;
    std::istringstream(line.substr(kField.size())) >> available;
    available *= 1024;  // the file counts in KiB
  }
  const std::size_t limit = NumberIn("/sys/fs/cgroup/memory.max");
  const std::size_t used = NumberIn("/sys/fs/cgroup/memory.current");
  if (limit > used) available = std::min(available, limit - used);
  return available;
}

std::size_t MemoryLimit(const TorchServerOptions& options) {
  if (options.memory_limit_bytes > 0) return options.memory_limit_bytes;
  return static_cast<std::size_t>(static_cast<double>(FreeMemory()) * kUsableShareOfMemory);
}

std::vector<std::size_t> Shifted(std::vector<std::size_t> offsets, std::size_t by) {
  for (std::size_t& offset : offsets) offset += by;
  return offsets;
}

std::string_view ModeName(TimerMode mode) {
  return mode == TimerMode::kCompile ? "compile" : "eager";
}

std::string_view PrecisionName(TorchServer::Precision precision) {
  switch (precision) {
    case TorchServer::Precision::kFloat64: return "float64";
    case TorchServer::Precision::kNative: return "native";
  }
  return "";
}

std::string InFolder(std::string_view folder, const fs::path& file) {
  return std::string(folder) + "/" + file.filename().string();
}

}  // namespace

struct TorchServer::Impl {
  const Jail& jail;
  TorchServerOptions options;
  fs::path task_file;
  ReadableFolder folder;
  CacheSlot cache;
  TorchProcess process;
  Task task;
  std::string candidate_plan;  // JSON
  std::string no_candidate;    // reason why this task does not support Python candidates
  std::vector<std::string> files;

  [[nodiscard]] Result<JsonReader> Ask(JsonWriter& request, std::span<const int> fds,
                                       const std::string& what) {
    return process.Ask({.json = request.EndObject().Take(),
                        .fds = fds,
                        .what = task_file.filename().string() + ": " + what,
                        .deadline = After(options.request_limit)});
  }
  [[nodiscard]] Result<void> CheckSpace(const SharedMemory& area, std::size_t offset,
                                        std::size_t bytes) const;
  void Note(const std::string& note);
};

// Adds a note to the task. A note about what does not work in float64 is added only once.
void TorchServer::Impl::Note(const std::string& note) {
  if (note.empty() || std::ranges::find(task.notes, note) != task.notes.end()) return;
  task.notes.push_back(note);
  Log(LogLevel::kWarning, task_file.filename().string() + ": " + note);
}

Result<void> TorchServer::Impl::CheckSpace(const SharedMemory& area, std::size_t offset,
                                           std::size_t bytes) const {
  if (offset <= area.size() && bytes <= area.size() - offset) return {};
  return Fail("a set of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) +
              " does not fit in shared memory of " + std::to_string(area.size()) + " bytes");
}

TorchServer::TorchServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchServer::TorchServer(TorchServer&&) noexcept = default;
TorchServer& TorchServer::operator=(TorchServer&&) noexcept = default;
TorchServer::~TorchServer() = default;

std::string_view AllocatorName(Allocator allocator) {
  return allocator == Allocator::kKeep ? "keep" : "default";
}

const Task& TorchServer::task() const { return impl_->task; }
void TorchServer::NoteLint(std::string verdict) { impl_->task.lint = std::move(verdict); }
void TorchServer::NoteDims(std::vector<VaryingSize> dims) { impl_->task.dims = std::move(dims); }
const std::vector<std::string>& TorchServer::files() const { return impl_->files; }
fs::path TorchServer::folder() const { return fs::absolute(impl_->task_file).parent_path(); }
const std::string& TorchServer::torch_version() const { return impl_->process.torch_version(); }

const std::string& TorchServer::triton_version() const { return impl_->process.triton_version(); }

Result<JsonReader> TorchServer::Ask(JsonWriter& request, std::span<const int> fds,
                                    const std::string& what) {
  return impl_->Ask(request, fds, what);
}

JsonWriter ServerRequest(std::string_view operation) {
  JsonWriter request;
  request.BeginObject().Field("op", operation);
  return request;
}

Result<TorchServer> TorchServer::Start(const Jail& jail, const TorchServerOptions& options,
                                       const fs::path& task_file, const AwaitMemory& await_memory) {
  std::error_code error;
  if (!fs::is_regular_file(task_file, error)) {
    const bool there = fs::exists(task_file, error);
    return Fail(ErrorKind::kTask, task_file.string() + (there ? ": not a file" : ": no such file"));
  }
  TimePoint deadline = After(options.describe_limit);
  JailSpec spec = TRY(TorchJail(options));
  ReadableFolder folder = TRY(ReadableFolder::Of(task_file, jail.other_user()));
  CacheSlot cache = TRY(CacheSlot::Take(options.cache_dir));
  spec.binds.push_back({folder.path.string(), std::string(kTaskFolder), false});
  spec.binds.push_back({cache.path.string(), "/cache", true});
  const fs::path descriptions = TRY(DescriptionsFolder(options.cache_dir));
  spec.binds.push_back({descriptions.string(), "/cache/described", true});
  spec.argv.insert(spec.argv.end(),
                   {"serve", "--threads", std::to_string(options.threads), "--device",
                    options.device ? "cuda" : "cpu", "--timers",
                    std::string(options.timers ? ModeName(*options.timers) : "none")});
  TorchProcess process = TRY(TorchProcess::Start(jail, std::move(spec), deadline));
  const fs::path outside = fs::absolute(task_file, error).lexically_normal().parent_path();
  process.ShowPath(std::string(kTaskFolder) + "/", (outside / "").string());
  const fs::path inside = jail.own_paths() ? fs::path(InFolder(kTaskFolder, task_file))
                                           : folder.path / task_file.filename();
  const auto ask = [&](std::string_view operation) {
    JsonWriter request = ServerRequest(operation);
    request.Field("task", inside.string());
    request.Field("memory_limit", MemoryLimit(options)).Field("eval", options.eval);
    request.Field("updates", options.updates).EndObject();
    return process.Ask({.json = request.Take(),
                        .fds = {},
                        .what = task_file.string() + ": describing the task",
                        .deadline = deadline});
  };
  if (options.device && await_memory) {
    const JsonReader loaded = TRY(ask("load"));
    std::size_t bytes = 0;
    loaded.Get("device_bytes", bytes);
    TRY(loaded.status());
    const TimePoint before = std::chrono::steady_clock::now();
    TRY(await_memory(bytes));
    deadline += std::chrono::steady_clock::now() - before;
  }
  const JsonReader reply = TRY(ask("describe"));
  Task task = TRY(ParseTaskDescription(reply["task"].Dump()));
  std::string no_candidate;
  reply["candidate_plan"].Get("init_error", no_candidate);
  std::vector<std::string> files;
  reply.Get("files", files);
  TRY(reply.status());
  return TorchServer(std::make_unique<Impl>(Impl{
      jail, options, task_file, std::move(folder), std::move(cache), std::move(process),
      std::move(task), reply["candidate_plan"].Dump(), std::move(no_candidate), std::move(files)}));
}

Result<CandidateHome> TorchServer::MakeCandidateHome(std::string_view solution) const {
  if (!impl_->no_candidate.empty()) {
    return Fail(ErrorKind::kTask,
                impl_->task_file.filename().string() +
                    ": no Python candidate can be built for it: " + impl_->no_candidate);
  }
  if (!impl_->jail.unsafe() && !impl_->jail.guards_files()) {
    return Fail(ErrorKind::kUnavailable,
                "no candidate in Python is run here: this machine has neither namespaces nor "
                "Landlock, so it could read and change your files; use a machine or container "
                "that has one of them (docs/containers.md)");
  }
  return MakeHome(impl_->jail, impl_->options,
                  {.solution = solution, .plan = impl_->candidate_plan});
}

Result<JailSpec> TorchServer::TritonJail() const {
  const fs::path& python = impl_->options.python;
  if (triton_version().empty()) {
    return Fail(ErrorKind::kUnavailable,
                python.string() + " has no Triton: " + python.string() +
                    " -m pip install triton, or another one with --python");
  }
  JailSpec spec = TRY(ModuleJail(impl_->jail, impl_->options));
  if (!impl_->options.device) spec.env["TRITON_INTERPRET"] = "1";
  return spec;
}

Result<CandidateHome> TorchServer::MakeTritonScan(std::string_view module) const {
  return MakeHome(impl_->jail, impl_->options,
                  {.solution = module, .plan = "{}", .package = "pragma_triton"});
}

Result<void> TorchServer::Draw(std::uint64_t seed, const SharedMemory& area, std::size_t offset) {
  const SetLayout layout = PackedLayout(impl_->task);
  TRY(impl_->CheckSpace(area, offset, layout.argument_bytes));
  JsonWriter request = ServerRequest("draw");
  request.Field("seed", seed);
  request.Field("offsets", Shifted(layout.argument_offsets, offset));
  const std::array<int, 1> fds{area.fd()};
  TRY(impl_->Ask(request, fds, "drawing inputs"));
  return {};
}

Result<void> TorchServer::Reference(Precision precision, const SharedMemory& arguments,
                                    std::size_t offset, const SharedMemory& outputs,
                                    std::size_t output_offset) {
  const bool wide = precision != Precision::kNative;
  const SetLayout layout = wide ? ExpectedLayout(impl_->task) : PackedLayout(impl_->task);
  TRY(impl_->CheckSpace(arguments, offset, layout.argument_bytes));
  TRY(impl_->CheckSpace(outputs, output_offset, layout.output_bytes));
  JsonWriter request = ServerRequest("reference");
  request.Field("precision", PrecisionName(precision));
  request.Field("offsets", Shifted(layout.argument_offsets, offset));
  request.Field("output_offsets", Shifted(layout.output_offsets, output_offset));
  const std::array<int, 2> fds{arguments.fd(), outputs.fd()};
  const JsonReader reply = TRY(impl_->Ask(request, fds, "computing the reference"));
  std::string note;
  reply.Get("note", note);
  impl_->Note(note);
  return {};
}

Result<void> TorchServer::ApplyBattery(const BatteryRequest& battery, const SharedMemory& area,
                                       std::size_t offset) {
  const SetLayout layout = PackedLayout(impl_->task);
  TRY(impl_->CheckSpace(area, offset, layout.argument_bytes));
  JsonWriter request = ServerRequest("apply_battery");
  request.Field("battery", battery.name);
  request.Field("rung", battery.rung).Field("integer_bound", battery.integer_bound);
  request.Field("argument", battery.argument).Field("seed", battery.seed);
  request.Field("constants", battery.constants).Field("part", battery.part);
  request.Field("offsets", Shifted(layout.argument_offsets, offset));
  const std::array<int, 1> fds{area.fd()};
  TRY(impl_->Ask(request, fds, "making a battery's input set"));
  return {};
}

Result<TimerChild> TorchServer::SpawnTimer(const TimerSpec& spec) {
  const bool on_device = spec.area_fd >= 0;
  if (spec.inputs == nullptr && !on_device) {
    return Fail("a timing child needs the ring's input memory, or an area on the device");
  }
  UniqueFd ours;
  UniqueFd theirs;
  TRY(MakeCredentialPair(ours, theirs));
  JsonWriter request = ServerRequest("spawn_timer");
  request.Field("mode", ModeName(spec.mode));
  request.Field("compile_mode", impl_->options.compile_mode);
  request.Field("allocator", AllocatorName(spec.allocator));
  request.Field("as_call", spec.as_call);
  request.Field("offsets", spec.argument_offsets);
  const std::array<int, 3> fds{on_device ? spec.area_fd : spec.inputs->fd(), spec.control_fd,
                               theirs.get()};
  TRY(impl_->Ask(request, fds, "starting a timing child"));
  theirs.Reset();
  TimerChild child{.host_pid = ReceiveSenderPid(ours.get(), After(kHelloLimit)), .pidfd = {}};
  if (child.host_pid <= 0) return Fail("a timing child of the reference ended as it started");
  // The child waits for its doorbell, so this number still belongs to it.
  child.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child.host_pid, 0)));
  if (!child.pidfd.valid()) return FailErrno("cannot open a pidfd of a timing child");
  return child;
}

}  // namespace pragma
