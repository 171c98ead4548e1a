#include "profile/device_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/backend.h"
#include "core/candidate.h"
#include "core/json_writer.h"
#include "core/task.h"
#include "harness/cuda_program.h"
#include "profile/device_profiler.h"
#include "sandbox/jail.h"
#include "task/set_layout.h"
#include "task/system_jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr Seconds kCallLimit{180};
constexpr std::size_t kReportLimit = std::size_t{256} << 20U;
constexpr std::size_t kHostMemory = std::size_t{16} << 30U;
constexpr int kCallProcesses = 256;  // threads of the driver, the profiler and Torch
constexpr int kCallFiles = 1024;
constexpr std::size_t kMostObjects = 16;

// The jailed user may not be our own user, so the path needs open permissions.
Result<void> Open(const fs::path& path, fs::perms wanted) {
  std::error_code error;
  fs::permissions(path, wanted, error);
  if (error) return Fail("cannot open " + path.string() + ": " + error.message());
  return {};
}

void AllowProfiler(JailSpec& spec, const Backend& backend) {
  for (const std::string& folder : backend.profiler_folders) BindSame(spec, folder);
  BindSame(spec, "/dev/zero");
  spec.tmpfs.emplace_back("/dev/shm");
  spec.env["HOME"] = "/tmp";
  spec.env["TMPDIR"] = "/tmp";
  spec.env["PATH"] = "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin";
  spec.proc = true;
  spec.limits.address_space_bytes = 0;
  spec.limits.file_bytes = kReportLimit;
  spec.limits.memory_bytes = kHostMemory;
  spec.limits.processes = kCallProcesses;
  spec.limits.open_files = kCallFiles;
}

Result<JailSpec> CudaSpec(const DeviceSubject& subject) {
  JailSpec spec = CudaJail(*subject.machine.device);
  const std::string program = subject.jail.program_dir() + "/pragma-cuda-profiler";
  spec.binds.push_back({program, "/pragma-cuda-profiler", false});
  return spec;
}

// Returns the jail of the Python interpreter, and the interpreter's path in it.
Result<JailSpec> TritonSpec(const DeviceSubject& subject) {
  JailSpec spec = TRY(subject.server.TritonJail());
  const auto interpreter =
      std::ranges::find_if(spec.argv, [](const std::string& word) { return word == "-I"; });
  if (interpreter == spec.argv.begin() || interpreter == spec.argv.end())
    return Fail("a Triton module's command has no interpreter");
  spec.argv = {*std::prev(interpreter)};
  for (const char* name : {"TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"})
    spec.env[name] = "/tmp/cache";
  return spec;
}

void WriteTensors(JsonWriter& writer, std::string_view name, const std::vector<TensorSpec>& tensors,
                  const std::vector<std::size_t>& offsets) {
  writer.Key(name).BeginArray();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    writer.BeginObject().Field("dtype", DTypeName(tensors[i].dtype));
    writer.Field("shape", tensors[i].shape).Field("offset", offsets[i]).EndObject();
  }
  writer.EndArray();
}

std::string PlanOf(const Task& task) {
  const SetLayout layout = PackedLayout(task);
  JsonWriter writer;
  writer.BeginObject();
  WriteTensors(writer, "arguments", task.arguments, layout.argument_offsets);
  WriteTensors(writer, "outputs", task.outputs, layout.output_offsets);
  return writer.EndObject().Take();
}

Words TensorWords(const Task& task) {
  const SetLayout layout = PackedLayout(task);
  Words words;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    words.push_back(fmt::format("in:{}:{}", layout.argument_offsets[i], task.arguments[i].bytes()));
  }
  for (const TensorSpec& output : task.outputs)
    words.push_back(fmt::format("out:{}", output.bytes()));
  return words;
}

Result<void> WriteInputs(TorchServer& server, const fs::path& path) {
  const std::size_t bytes = std::max<std::size_t>(PackedLayout(server.task()).argument_bytes, 1);
  SharedMemory drawn = TRY(SharedMemory::Create("pragma-profile", bytes));
  TRY(server.Draw(Rng(SystemSeed())() >> 1U, drawn, 0));
  const std::string_view text(reinterpret_cast<const char*>(drawn.data()), bytes);
  return WriteFileAtomic(path, text);
}

}  // namespace

Result<void> DeviceCall::WriteFiles() const {
  const fs::path in = folder_.path() / "in";
  TRY(MakeDirectories(in));
  TRY(MakeDirectories(out()));
  TRY(WriteInputs(subject_->server, in / "inputs"));
  if (subject_->kernel != nullptr) {
    const std::string object = TRY(ReadFile(subject_->kernel->shared_object));
    TRY(WriteFileAtomic(in / "kernel.so", object));
  } else {
    TRY(WriteFileAtomic(in / "kernel.py", subject_->candidate.source()));
    TRY(WriteFileAtomic(in / "plan.json", PlanOf(subject_->server.task())));
  }
  TRY(Open(in, fs::perms::owner_all | fs::perms::group_exec | fs::perms::group_read |
                   fs::perms::others_exec | fs::perms::others_read));
  return Open(out(), fs::perms::all);
}

Result<DeviceCall> DeviceCall::Make(const DeviceSubject& subject) {
  JailSpec spec = TRY(subject.kernel != nullptr ? CudaSpec(subject) : TritonSpec(subject));
  TempDir folder = TRY(TempDir::Create());
  spec.binds.push_back({(folder.path() / "in").string(), "/in", false});
  spec.binds.push_back({(folder.path() / "out").string(), "/out", true});
  AllowProfiler(spec, subject.machine.device->backend);
  DeviceCall call(subject, std::move(folder), std::move(spec));
  TRY(call.WriteFiles());
  return call;
}

Words DeviceCall::Command(const std::string& mode) const {
  if (subject_->kernel == nullptr) {
    return {spec_.argv.front(),
            "-I",
            "/pragma/pragma_triton/observe.py",
            mode,
            "/in/kernel.py",
            "/in/plan.json",
            "/in/inputs",
            "/out/launches"};
  }
  Words words{"/pragma-cuda-profiler", mode,
              "/in/kernel.so",         "/in/inputs",
              "/out/launches",         std::to_string(subject_->kernel->scratch_bytes)};
  std::ranges::move(TensorWords(subject_->server.task()), std::back_inserter(words));
  return words;
}

Words DeviceCall::Objects() const {
  if (subject_->kernel != nullptr) return {"/in/kernel.so"};
  Words objects;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(out(), error)) {
    if (entry.path().extension() == ".cubin" && objects.size() < kMostObjects)
      objects.push_back("/out/" + entry.path().filename().string());
  }
  std::ranges::sort(objects);
  return objects;
}

Result<Jail::RunOutcome> DeviceCall::Run(const Words& argv,
                                         const std::map<std::string, std::string>& env) const {
  JailSpec spec = spec_;
  spec.argv = argv;
  for (const auto& [name, value] : env) spec.env[name] = value;
  if (spec_.argv.empty() || argv.front() != spec_.argv.front())
    BindSame(spec, fs::path(argv.front()).parent_path());
  return subject_->jail.Run(spec, {.wall = kCallLimit});
}

}  // namespace pragma
