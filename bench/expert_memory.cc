// Measures how near the expert's kernels for memory-bound operators come to the machine's measured
// bandwidth, for bench/expert_memory.py:
//   pragma-expert-memory PYTHON COMPILER FOLDER TASK.py...
// It generates, builds and times each task's kernel alone, under the machine's timing lock. Timings
// alternate with measurements of the bandwidth. It prints one JSON object per task. Sources and
// libraries stay in FOLDER.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "bench/describing_server.h"
#include "core/json_writer.h"
#include "core/task.h"
#include "expert/cpp/emit_kernel.h"
#include "expert/expert.h"
#include "expert/lower/lowering.h"
#include "expert/plan/nest.h"
#include "expert/plan/plan_nests.h"
#include "expert/plan/traffic.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/bounds.h"

extern "C" {
#include "worker/load/pointer_call.h"
}

namespace pragma::expert {
namespace {

using Clock = std::chrono::steady_clock;
using Memory = std::unique_ptr<void, void (*)(void*)>;

struct Subject {
  Task task;
  void (*kernel)() = nullptr;
  std::size_t scratch_bytes = 0;
  PlannedBytes moved;
};

// Returns floats in [-0.5, 0.5), and zeros for every other type, because zero is valid as an index.
Memory Filled(std::size_t bytes, DType dtype) {
  const std::size_t size = (bytes + 4159) / 64 * 64;
  Memory memory(std::aligned_alloc(64, size), std::free);
  std::memset(memory.get(), 0, size);
  if (dtype != DType::kFloat32) return memory;
  auto* numbers = static_cast<float*>(memory.get());
  for (std::size_t i = 0; i < size / sizeof(float); ++i)
    numbers[i] = static_cast<float>(i * 2654435761U % 1024) / 1024.0F - 0.5F;
  return memory;
}

Result<Subject> Build(const Task& task, const KernelTarget& target, const std::string& compiler,
                      const std::filesystem::path& folder) {
  Subject subject{.task = task};
  const Program lowered = TRY(LowerTask(task));
  Program simple = lowered;
  Simplify(simple);
  subject.moved = BytesMoved(simple, PlanNests(simple), target);
  const std::filesystem::path home = folder / task.name;
  std::filesystem::create_directories(home);
  TRY(WriteFileAtomic(home / "kernel.h", KernelHeader(task)));
  TRY(WriteFileAtomic(home / "kernel.cpp", EmitKernel(task, lowered, target, {}).source));
  const RunResult run =
      TRY(RunProcess({.argv = {compiler, "-std=c++20", "-O3", "-march=native", "-fopenmp",
                               "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared",
                               (home / "kernel.cpp").string(), "-o", (home / "kernel.so").string()},
                      .inherit_env = true},
                     {.wall = Seconds{300}}));
  if (!run.status.ok())
    return Fail(ErrorKind::kInternal, fmt::format("{} does not build: {}", task.name, run.err));
  void* library = ::dlopen((home / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(ErrorKind::kInternal, ::dlerror());
  subject.kernel = reinterpret_cast<void (*)()>(::dlsym(library, "pragma_kernel"));
  const void* bytes = ::dlsym(library, "pragma_scratch_bytes");
  if (bytes != nullptr) subject.scratch_bytes = *static_cast<const std::size_t*>(bytes);
  return subject;
}

// Returns the milliseconds in which plain loops move this traffic. What is both read and written is
// moved by copying, the rest by reading or writing alone.
double StreamMs(const Traffic& traffic, const Bandwidth& bandwidth) {
  const auto reads = static_cast<double>(traffic.read_bytes);
  const auto writes = static_cast<double>(traffic.write_bytes);
  const double both = std::min(reads, writes);
  return (2 * both / bandwidth.copy_gbs + (reads - both) / bandwidth.read_gbs +
          (writes - both) / bandwidth.write_gbs) *
         1e-6;
}

struct Round {
  double ms = 1e30;  // time of the fastest call
  Bandwidth bandwidth;
};

// Measures kernel and bandwidth in turn, because other load on the host changes both within
// minutes.
Result<std::vector<Round>> Measure(const Subject& subject, int threads,
                                   const std::string& program_dir) {
  constexpr int kRounds = 9;
  std::vector<Memory> tensors;
  for (const std::vector<TensorSpec>* side : {&subject.task.arguments, &subject.task.outputs})
    for (const TensorSpec& tensor : *side) tensors.push_back(Filled(tensor.bytes(), tensor.dtype));
  tensors.push_back(Filled(subject.scratch_bytes, DType::kInt8));
  std::vector<void*> pointers;
  for (const Memory& tensor : tensors) pointers.push_back(tensor.get());
  const std::size_t count = pointer_call_padded(pointers.size());
  pointers.resize(count + 1);
  std::vector<Round> rounds(kRounds);
  for (Round& round : rounds) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
    round.bandwidth = TRY(MeasureMemory(threads, program_dir));
    const Clock::time_point start = Clock::now();
    for (int call = 0; call < 5 || Clock::now() - start < std::chrono::milliseconds(200); ++call) {
      const Clock::time_point begin = Clock::now();
      pointer_call(subject.kernel, pointers.data(), count);
      const std::chrono::duration<double, std::milli> taken = Clock::now() - begin;
      round.ms = std::min(round.ms, taken.count());
    }
  }
  return rounds;
}

// Writes each round's share of the bandwidth that was measured in the same round.
void WriteShares(JsonWriter& json, std::string_view key, const Traffic& traffic,
                 const std::vector<Round>& rounds) {
  json.Key(key).BeginArray();
  for (const Round& round : rounds) json.Value(StreamMs(traffic, round.bandwidth) / round.ms);
  json.EndArray();
}

std::string Row(const Subject& subject, const std::vector<Round>& rounds) {
  const Traffic unavoidable = UnavoidableTraffic(subject.task);
  const Traffic moved{static_cast<std::size_t>(subject.moved.read),
                      static_cast<std::size_t>(subject.moved.written)};
  JsonWriter json;
  json.BeginObject().Key("name").Value(subject.task.name);
  json.Key("unavoidable_bytes").Value(unavoidable.read_bytes + unavoidable.write_bytes);
  json.Key("moved_bytes").Value(moved.read_bytes + moved.write_bytes);
  WriteShares(json, "unavoidable_shares", unavoidable, rounds);
  WriteShares(json, "moved_shares", moved, rounds);
  json.Key("rounds").BeginArray();
  for (const Round& round : rounds) {
    json.BeginObject().Key("ms").Value(round.ms);
    json.Key("read_gbs").Value(round.bandwidth.read_gbs);
    json.Key("copy_gbs").Value(round.bandwidth.copy_gbs);
    json.Key("write_gbs").Value(round.bandwidth.write_gbs).EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

Result<void> MeasureAll(std::span<char* const> tasks, const std::filesystem::path& python,
                        const std::string& compiler, const std::filesystem::path& folder) {
  const Jail jail = TRY(Jail::Create(PRAGMA_PROGRAM_DIR, SandboxMode::kFull));
  Machine machine = TRY(DescribeMachine());
  {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
    TRY(MeasureMachine(machine, PRAGMA_PROGRAM_DIR));
  }
  const TorchServerOptions options = DescribingServer(python, folder, machine.threads);
  std::vector<Subject> subjects;
  for (const std::filesystem::path file : tasks) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    const TorchServer server = TRY(TorchServer::Start(jail, options, file));
    subjects.push_back(TRY(Build(server.task(), TargetOf(machine), compiler, folder)));
  }
  fmt::print(stderr, "{} kernels are built\n", subjects.size());
  for (const Subject& subject : subjects) {
    const std::vector<Round> rounds = TRY(Measure(subject, machine.threads, PRAGMA_PROGRAM_DIR));
    fmt::print("{}\n", Row(subject, rounds));
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace pragma::expert

int main(int argc, char** argv) {
  using namespace pragma::expert;
  if (argc < 5) {
    std::fputs("usage: pragma-expert-memory PYTHON COMPILER FOLDER TASK.py...\n", stderr);
    return 2;
  }
  const auto done = MeasureAll({argv + 4, argv + argc}, argv[1], argv[2], argv[3]);
  if (!done) {
    fmt::print(stderr, "pragma-expert-memory: {}\n", done.error().message);
    return 3;
  }
  return 0;
}
