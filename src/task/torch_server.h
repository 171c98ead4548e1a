// TorchServer: pragma's end of the jailed pragma_torch server (Python). It describes a task, draws
// input sets, computes expected outputs, and forks timing children. docs/torch-protocol.md has the
// messages. The task file is trusted to be the reference, not to be harmless.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/candidate.h"
#include "core/device.h"
#include "core/task.h"
#include "sandbox/jail.h"

namespace pragma {

class JsonReader;
class JsonWriter;

enum class TimerMode : std::uint8_t { kEager, kCompile };

struct TorchServerOptions {
  std::filesystem::path python;        // the virtual environment's interpreter
  std::filesystem::path package_root;  // folder that holds pragma_torch/
  std::filesystem::path cache_dir;     // writable inside; torch.compile's cache
  int threads = 1;                     // what both sides use
  Seconds describe_limit{120};         // import, one construction, one forward, export
  Seconds request_limit{300};
  std::size_t memory_limit_bytes = 0;  // refuse a task that needs more; 0: 80 % of what is free
  std::string omp_wait_policy;         // OMP_WAIT_POLICY of both sides; empty: libgomp's default
  std::optional<Device> device;        // timing children and Triton candidates compute there
  // The most that timing children are expected to do; none: no child is. What it needs is imported
  // while the task is described (seconds of a core); another child still works, later.
  std::optional<TimerMode> timers = TimerMode::kCompile;
};

// Which of Torch's two allocator settings a timing child uses (docs/measuring.md).
enum class Allocator : std::uint8_t { kDefault, kKeep };
[[nodiscard]] std::string_view AllocatorName(Allocator allocator);  // "default", "keep"

struct TimerSpec {
  TimerMode mode = TimerMode::kEager;
  Allocator allocator = Allocator::kDefault;
  const SharedMemory* inputs = nullptr;  // the ring's input memory; mapped privately by the child
  // Per set, the offset of each argument in `inputs`.
  std::vector<std::vector<std::size_t>> argument_offsets;
  // On a device instead: what Referee::Share gave (task/referee.h).
  int area_fd = -1;
  int control_fd = -1;  // a control page (worker/protocol.h)
};

// Inputs of another distribution than the task's own (verify/batteries.h).
struct BatteryRequest {
  std::string_view name;
  double rung = 1;
  double integer_bound = 1;
  int argument = -1;  // of a battery that is about one input; -1: any
  std::uint64_t seed = 0;
  std::vector<double> constants;  // of the battery that places some, the likeliest first
  int part = 0;                   // of several sets that share them
};

// A timing child: forked from the clean zygote, blocked on its doorbell.
struct TimerChild {
  pid_t host_pid = -1;
  UniqueFd pidfd;
};

// What a process of one Python candidate is started with: jails without the task's file, expected
// outputs or seeds, and the files they bind.
struct CandidateHome {
  JailSpec run;  // serves the control page; the caller adds descriptors, threads' placement, limits
  JailSpec scan;  // looks at the source without running it; JSON on stdout
  TempDir files;
};

class TorchServer final {
 public:
  // Starts the server on one task file and describes it. ErrorKind::kTask: the task itself is bad,
  // with one clear line; nothing else is needed to tell the user.
  [[nodiscard]] static Result<TorchServer> Start(const Jail& jail,
                                                 const TorchServerOptions& options,
                                                 const std::filesystem::path& task_file);
  TorchServer(TorchServer&&) noexcept;
  TorchServer& operator=(TorchServer&&) noexcept;
  ~TorchServer();

  [[nodiscard]] const Task& task() const;
  // What lint found out about the task; it then stands on the task.
  void NoteLint(std::string verdict);
  // What varies between the shapes that the task is judged on.
  void NoteDims(std::vector<VaryingSize> dims);
  [[nodiscard]] const std::string& torch_version() const;
  [[nodiscard]] const std::string& triton_version() const;
  // What else of the task's folder its code read when it was loaded, relative to that folder.
  [[nodiscard]] const std::vector<std::string>& files() const;

  // Runs get_inputs() and a fresh Model under `seed` (KernelBench's rule: the seed is set before
  // each) and writes every argument into `area` at `offset` in PackedLayout(task()).
  [[nodiscard]] Result<void> Draw(std::uint64_t seed, const SharedMemory& area, std::size_t offset);

  enum class Precision : std::uint8_t {
    kFloat64,  // outputs in ExpectedLayout: floating ones as float64
    kNative,   // outputs in PackedLayout: Torch's own result, for the honest error
  };
  // Computes the outputs of the arguments that lie in `arguments` at `offset`, into `outputs` at
  // `output_offset`.
  [[nodiscard]] Result<void> Reference(Precision precision, const SharedMemory& arguments,
                                       std::size_t offset, const SharedMemory& outputs,
                                       std::size_t output_offset);

  // Makes a battery's values of the drawn set that lies in `area` at `offset` in
  // PackedLayout(task()).
  [[nodiscard]] Result<void> ApplyBattery(const BatteryRequest& battery, const SharedMemory& area,
                                          std::size_t offset);

  [[nodiscard]] Result<TimerChild> SpawnTimer(const TimerSpec& spec);

  // `solution`: the text of a file that defines ModelNew. kTask: this task cannot be given to one.
  [[nodiscard]] Result<CandidateHome> MakeCandidateHome(std::string_view solution) const;
  // The jail of a process that forks those of one Triton module (harness/worker_zygote.h). Without
  // a device they get Triton's interpreter.
  [[nodiscard]] Result<JailSpec> TritonJail() const;
  // The jail that looks at a Triton module's source; `files` holds it.
  [[nodiscard]] Result<CandidateHome> MakeTritonScan(std::string_view module) const;

  // For task/referee.h: one request of its, still open at its end.
  [[nodiscard]] Result<JsonReader> AskReferee(JsonWriter& request, std::span<const int> fds,
                                              const std::string& what);

 private:
  struct Impl;
  explicit TorchServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The text of the task's kernel.h (docs/design.md 4): names, shapes, init arguments, prototypes.
[[nodiscard]] std::string KernelHeader(const Task& task);
// The same for CUDA (docs/gpu.md): pragma_launch in place of pragma_kernel.
[[nodiscard]] std::string CudaKernelHeader(const Task& task);
// What authors of candidates in a language are shown of the arguments: kernel.h, or (Triton) the
// head of the function that they write.
[[nodiscard]] std::string InterfaceText(const Task& task, Language language);
// A Task from the server's description (foreign text).
[[nodiscard]] Result<Task> ParseTaskDescription(std::string_view json);

}  // namespace pragma
