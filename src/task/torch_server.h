// TorchServer: pragma's end of the jailed pragma_torch server (Python). It describes a task, draws
// input sets, computes expected outputs, and forks timing children. docs/torch-protocol.md has the
// messages. The task file is trusted to be the reference, but not to be harmless.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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
  std::filesystem::path python;        // interpreter of the virtual environment
  std::filesystem::path package_root;  // folder that holds pragma_torch/
  std::filesystem::path cache_dir;     // torch.compile's cache; writable inside the jail
  int threads = 1;                     // number of threads of both sides
  Seconds describe_limit{120};         // limit for import, one construction, one forward and the
                                       // export
  Seconds request_limit{300};
  std::size_t memory_limit_bytes = 0;    // a task that needs more is refused; 0: 80 % of the free
                                         // memory
  std::string omp_wait_policy;           // OMP_WAIT_POLICY of both sides; empty: libgomp's default
  bool eval = false;                     // the module is described and computed after eval()
  bool updates = true;                   // what forward changes is a further output
  std::string compile_mode = "default";  // of torch.compile in timing children
  std::optional<Device> device;  // device that timing children and Triton candidates compute
                                 // on
  // The most that timing children are expected to do. nullopt: no timing child is expected. The
  // modules that this needs are imported while the task is described (seconds of one core). Another
  // kind of child still works, but starts later.
  std::optional<TimerMode> timers = TimerMode::kCompile;
};

// Called before a task is described on a device, with the bytes of the device's memory that this
// takes (0: not known). It may wait for them; the time does not count.
using AwaitMemory = std::function<Result<void>(std::size_t)>;

// Allocator: which of PyTorch's two allocator settings a timing child uses (docs/measuring.md).
enum class Allocator : std::uint8_t { kDefault, kKeep };
[[nodiscard]] std::string_view AllocatorName(Allocator allocator);  // "default", "keep"

struct TimerSpec {
  TimerMode mode = TimerMode::kEager;
  Allocator allocator = Allocator::kDefault;
  bool as_call = false;  // malloc is as in a program that runs for long (docs/measuring.md)
  const SharedMemory* inputs = nullptr;  // the ring's input memory; the child maps it privately
  // Offset of each argument in `inputs`, by set.
  std::vector<std::vector<std::size_t>> argument_offsets;
  // On a device, replaces the two above: the socket that Referee::Share returned (task/referee.h).
  int area_fd = -1;
  int control_fd = -1;  // a control page (worker/protocol.h)
};

// BatteryRequest: asks for inputs of another distribution than the task's own (values/batteries.h).
struct BatteryRequest {
  std::string_view name;
  double rung = 1;
  double integer_bound = 1;
  int argument = -1;  // index of the input, for a battery about one input; -1: any input
  std::uint64_t seed = 0;
  std::vector<double> constants;  // constants, for the battery that places them; likeliest first
  int part = 0;                   // number of the set, where several sets share the constants
};

// TimerChild: a timing child. It is forked from the clean zygote and blocks on its doorbell.
struct TimerChild {
  pid_t host_pid = -1;
  UniqueFd pidfd;
};

// CandidateHome: what a process of one Python candidate is started with. It holds jails without the
// task's file, expected outputs or seeds, and the files that they bind.
struct CandidateHome {
  JailSpec run;   // serves the control page; the caller adds descriptors, the placement of threads
                  // and limits
  JailSpec scan;  // examines the source without running it; writes JSON to stdout
  TempDir files;
};

class TorchServer final {
 public:
  // Starts the server on one task file and describes the task. ErrorKind::kTask: the task itself is
  // bad. Its message is one clear line, and the user needs nothing else.
  [[nodiscard]] static Result<TorchServer> Start(const Jail& jail,
                                                 const TorchServerOptions& options,
                                                 const std::filesystem::path& task_file,
                                                 const AwaitMemory& await_memory = {});
  TorchServer(TorchServer&&) noexcept;
  TorchServer& operator=(TorchServer&&) noexcept;
  ~TorchServer();

  [[nodiscard]] const Task& task() const;
  // Stores the verdict of lint in the task.
  void NoteLint(std::string verdict);
  // Stores the sizes that vary between the shapes that the task is judged on.
  void NoteDims(std::vector<VaryingSize> dims);
  [[nodiscard]] const std::string& torch_version() const;
  [[nodiscard]] const std::string& triton_version() const;
  // Returns the other files of the task's folder that its code read when it was loaded, relative to
  // that folder.
  [[nodiscard]] const std::vector<std::string>& files() const;

  // Runs get_inputs() and a fresh Model under `seed` (KernelBench's rule: the seed is set before
  // each). Writes every argument into `area` at `offset`, in PackedLayout(task()).
  [[nodiscard]] Result<void> Draw(std::uint64_t seed, const SharedMemory& area, std::size_t offset);

  enum class Precision : std::uint8_t {
    kFloat64,  // outputs in ExpectedLayout, with floating ones as float64
    kNative,   // outputs in PackedLayout: PyTorch's own result in the task's precision, for the
               // honest error
  };
  // Computes the outputs of the arguments in `arguments` at `offset`. Writes them into `outputs` at
  // `output_offset`.
  [[nodiscard]] Result<void> Reference(Precision precision, const SharedMemory& arguments,
                                       std::size_t offset, const SharedMemory& outputs,
                                       std::size_t output_offset);

  // Turns the drawn set in `area` at `offset`, in PackedLayout(task()), into a battery's values.
  [[nodiscard]] Result<void> ApplyBattery(const BatteryRequest& battery, const SharedMemory& area,
                                          std::size_t offset);

  [[nodiscard]] Result<TimerChild> SpawnTimer(const TimerSpec& spec);

  // Makes the home of a Python candidate. `solution` is the text of a file that defines ModelNew.
  // kTask: Python candidates are not possible for this task.
  [[nodiscard]] Result<CandidateHome> MakeCandidateHome(std::string_view solution) const;
  // Returns the jail of a process that forks the processes of one Triton module
  // (harness/worker_zygote.h). Without a device they get Triton's interpreter.
  [[nodiscard]] Result<JailSpec> TritonJail() const;
  // Returns the jail that examines a Triton module's source. `files` holds the source.
  [[nodiscard]] Result<CandidateHome> MakeTritonScan(std::string_view module) const;

  // Returns the folder of the task's file, below which files() are.
  [[nodiscard]] std::filesystem::path folder() const;
  // For task/referee.h and task/island_cut.h: sends one of their requests (ServerRequest).
  [[nodiscard]] Result<JsonReader> Ask(JsonWriter& request, std::span<const int> fds,
                                       const std::string& what);

 private:
  struct Impl;
  explicit TorchServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns a request to the server: an object that is still open at its end.
[[nodiscard]] JsonWriter ServerRequest(std::string_view operation);

// Returns the text of the task's kernel.h (docs/design.md 4): names, shapes, init arguments,
// prototypes.
[[nodiscard]] std::string KernelHeader(const Task& task);
// Returns kernel.h for CUDA (docs/gpu.md), with pragma_launch in place of pragma_kernel.
[[nodiscard]] std::string CudaKernelHeader(const Task& task);
// Returns what authors of candidates in a language are shown of the arguments: kernel.h, or
// (Triton) the head of the function that they write.
[[nodiscard]] std::string InterfaceText(const Task& task, Language language);
// Makes a Task from the server's description, which is untrusted text.
[[nodiscard]] Result<Task> ParseTaskDescription(std::string_view json);

}  // namespace pragma
