#include "harness/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "build/builder.h"
#include "core/status.h"
#include "core/task.h"
#include "harness/peer.h"
#include "harness/ring.h"
#include "harness/timed_process.h"
#include "harness/worker_failure.h"
#include "harness/worker_memory.h"
#include "sandbox/jail.h"
#include "task/doorbell.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

constexpr std::size_t kPoisonTile = 1U << 16U;
// Address space, not memory, that glibc reserves for one thread's malloc arena.
constexpr std::size_t kArenaBytes = std::size_t{128} << 20U;

JailSpec MakeSpec(const Jail& jail, const std::vector<std::string>& libraries,
                  const BuiltKernel& kernel, const WorkerOptions& options,
                  std::size_t shared_bytes) {
  JailSpec spec;
  spec.argv = {"/pragma-worker", "/kernel.so"};
  spec.env = OpenMpEnvironment(options.threads, options.bound, options.thread_limit);
  if (kernel.llvm_openmp) {
    spec.argv.emplace_back("--llvm-openmp");
    spec.env["OMP_TOOL"] = "disabled";  // otherwise it looks for a tool in every library folder
  }
  spec.env["LD_LIBRARY_PATH"] = "/lib";
  spec.binds.push_back({jail.program_dir() + "/pragma-worker", "/pragma-worker"});
  spec.binds.push_back({kernel.shared_object.string(), "/kernel.so"});
  for (const std::string& library : libraries) {
    const std::filesystem::path path(library);
    // The ELF interpreter is looked up by its full path, the libraries by name in LD_LIBRARY_PATH.
    const bool interpreter = path.filename().string().starts_with("ld-linux");
    spec.binds.push_back({library, interpreter ? library : "/lib/" + path.filename().string()});
  }
  const std::size_t thread_bytes = spec.limits.stack_bytes + kArenaBytes;
  spec.limits.address_space_bytes = shared_bytes + options.memory_allowance_bytes +
                                    static_cast<std::size_t>(options.threads) * thread_bytes;
  spec.limits.file_bytes = std::size_t{1} << 20U;
  spec.limits.processes = 512;
  spec.limits.open_files = 32;
  return spec;
}

// Torch alone maps a few GiB. Its threads' stacks and heaps are reserved, not used.
constexpr std::size_t kPythonAddressSpace = std::size_t{12} << 30U;
constexpr std::size_t kPythonMemory = std::size_t{4} << 30U;  // torch and running compilers
constexpr int kPythonProcesses = 256;                         // including threads and compilers

JailSpec PythonSpec(const PythonKernel& python, const WorkerOptions& options,
                    std::size_t shared_bytes) {
  JailSpec spec = python.jail;
  for (const auto& [name, value] :
       OpenMpEnvironment(options.threads, options.bound, options.thread_limit))
    spec.env[name] = value;
  if (options.as_call) {
    spec.argv.insert(spec.argv.end(),
                     {"--allocator", std::string(AllocatorName(options.allocator))});
  }
  spec.limits.address_space_bytes =
      shared_bytes + options.memory_allowance_bytes + kPythonAddressSpace;
  spec.limits.memory_bytes = shared_bytes + options.memory_allowance_bytes + kPythonMemory;
  spec.limits.processes = kPythonProcesses;
  return spec;
}

// Fills `bytes` with random floats of ordinary size rather than random bits, because poison must
// look plausible.
void PoisonBytes(Rng& rng, std::span<std::byte> bytes) {
  const std::size_t first = std::min(bytes.size(), kPoisonTile);
  std::byte* at = bytes.data();
  std::size_t left = first;
  while (left > 0) {
    const float value = static_cast<float>(rng.Uniform() * 4 - 2);
    const std::size_t n = std::min(left, sizeof(value));
    std::memcpy(at, &value, n);
    at += n;
    left -= n;
  }
  // The rest repeats the first tile at a random phase. This runs at copy speed, and the values are
  // still unknown to the kernel.
  while (at < bytes.data() + bytes.size()) {
    const std::size_t room = static_cast<std::size_t>(bytes.data() + bytes.size() - at);
    const std::size_t phase = rng.Below(first / 8) * 4;
    const std::size_t n = std::min(room, first - phase);
    std::memcpy(at, bytes.data() + phase, n);
    at += n;
  }
}

}  // namespace

Result<std::vector<std::string>> WorkerLibraries(const Jail& jail) {
  const ProcessSpec spec{.argv = {jail.program_dir() + "/pragma-worker", "--libraries"}};
  const RunResult result = TRY(RunProcess(spec, {}));
  if (!result.status.ok()) return Fail("pragma-worker --libraries failed: " + result.err);
  return SplitLines(result.out);
}

WorkerProcess::WorkerProcess(const Task& task, const Ring& ring, WorkerOptions options)
    : task_(&task), ring_(&ring), options_(options) {}

Result<WorkerProcess> WorkerProcess::Start(const Jail& jail,
                                           const std::vector<std::string>& libraries,
                                           const BuiltKernel& kernel, const Task& task,
                                           const Ring& ring, const WorkerOptions& options) {
  WorkerProcess worker(task, ring, options);
  worker.scratch_bytes_ = kernel.scratch_bytes;
  worker.python_ = kernel.python;
  if (kernel.python != nullptr) worker.options_.load_limit = options.python_load_limit;
  WorkerMemory memory = TRY(MakeWorkerMemory(task, ring, kernel));
  worker.outputs_ = std::move(memory.outputs);
  worker.scratch_ = std::move(memory.scratch);
  Doorbell control = std::move(memory.control);
  const std::size_t shared = ring.inputs().size() + worker.outputs_.size() + worker.scratch_.size();
  JailSpec spec = kernel.python == nullptr ? MakeSpec(jail, libraries, kernel, options, shared)
                                           : PythonSpec(*kernel.python, options, shared);
  LogPipe log = TRY(MakeLogPipe());
  worker.log_ = std::move(log.ours);
  spec.fds = {{log.end.get(), 1},      {log.end.get(), 2},        {control.fd(), 3},
              {ring.inputs().fd(), 4}, {worker.outputs_.fd(), 5}, {worker.scratch_.fd(), 6}};
  if (kernel.python != nullptr) spec.fds.emplace_back(kernel.python->keep.fd(), 7);
  worker.jailed_ = TRY(jail.Start(spec));
  UniqueFd pidfd(::fcntl(worker.jailed_->pidfd(), F_DUPFD_CLOEXEC, 3));
  worker.peer_ =
      std::make_unique<Peer>(std::move(control), worker.jailed_->host_pid(), std::move(pidfd));
  return worker;
}

Result<ProcessFailure> WorkerProcess::Load() {
  return Send(PRAGMA_LOAD, {}, options_.load_limit, nullptr);
}

Result<ProcessFailure> WorkerProcess::Run(std::span<const std::uint32_t> sets,
                                          Nanoseconds* elapsed) {
  return Send(PRAGMA_RUN, sets, options_.BurstLimit(sets.size()), elapsed);
}

Result<ProcessFailure> WorkerProcess::Repeat(std::uint32_t set, std::uint32_t times,
                                             Nanoseconds* elapsed) {
  peer_->doorbell().RepeatNext(times);
  looped_ = true;
  return Run({&set, 1}, elapsed);
}

Result<ProcessFailure> WorkerProcess::RunEmpty(std::span<const std::uint32_t> sets,
                                               Nanoseconds* elapsed) {
  // The first empty burst may have to wait until an interpreter has started.
  return Send(PRAGMA_EMPTY, sets, options_.load_limit, elapsed);
}

Result<ProcessFailure> WorkerProcess::Prepare(std::span<const std::uint32_t> sets,
                                              Nanoseconds* elapsed) {
  return Send(PRAGMA_PREPARE, sets, options_.run_limit * static_cast<double>(sets.size()), elapsed);
}

Result<ProcessFailure> WorkerProcess::Deliver(std::uint32_t set) {
  if (!std::exchange(looped_, false)) return ProcessFailure();
  return Send(PRAGMA_DELIVER, {&set, 1}, options_.BurstLimit(1), nullptr);
}

Result<ProcessFailure> WorkerProcess::Send(pragma_command command,
                                           std::span<const std::uint32_t> sets, Seconds limit,
                                           Nanoseconds* elapsed) {
  const PeerReply reply = TRY(peer_->Send(command, sets, limit));
  if (elapsed != nullptr) *elapsed = reply.elapsed;
  if (!reply.ok()) return std::optional(TRY(Explain(reply, limit)));
  if (reply.page_altered) {
    return std::optional(TRY(Killed(Status::kSandboxViolation,
                                    "the kernel wrote to the page through which it is called")));
  }
  if (reply.fp_mode_changed) {
    return std::optional(
        TRY(Killed(Status::kSandboxViolation,
                   "the kernel left the floating-point mode changed (flush-to-zero, rounding or "
                   "exception masks), which would change what the rest of a program computes: "
                   "restore it before returning")));
  }
  if (reply.openmp_changed) {
    return std::optional(
        TRY(Killed(Status::kSandboxViolation,
                   "the kernel left OpenMP's settings changed (omp_set_num_threads and the like), "
                   "which would change what the rest of a program does: use the clause "
                   "num_threads(n), or set them back before returning")));
  }
  if (python_ != nullptr && command == PRAGMA_RUN) return CheckPython();
  return ProcessFailure();
}

Result<WorkerFailure> WorkerProcess::Killed(Status status, std::string reason) {
  TRY(jailed_->Kill());
  return WorkerFailure{
      .status = status, .reason = std::move(reason), .log = ReadWorkerLog(log_.get())};
}

Result<ProcessFailure> WorkerProcess::Freeze() {
  if (!jailed_->Freeze()) {
    return std::optional(TRY(
        Killed(Status::kSandboxViolation,
               "a thread of the kernel cannot be stopped: it waits where no signal reaches it")));
  }
  const std::optional<Outcome> ended = TRY(jailed_->WaitFor(Seconds{0}));
  if (!ended) return ProcessFailure();
  WorkerFailure failure = FailureFromDeath(*ended, ReadWorkerLog(log_.get()), kind());
  failure.reason += "; it happened between two calls";
  return std::optional(std::move(failure));
}

Result<WorkerFailure> WorkerProcess::Explain(const PeerReply& reply, Seconds limit) {
  if (reply.answer == Answer::kDone) {
    if (auto killed = jailed_->Kill(); !killed) return std::unexpected(killed.error());
    return FailureFromReply(reply, ReadWorkerLog(log_.get()));
  }
  if (reply.answer == Answer::kTimeout) {
    if (auto killed = jailed_->Kill(); !killed) return std::unexpected(killed.error());
    return FailureFromSilence(limit, ReadWorkerLog(log_.get()));
  }
  const std::optional<Outcome> outcome = TRY(jailed_->WaitFor(Seconds{10}));
  if (!outcome) return Fail("the worker's init did not report how it died");
  return FailureFromDeath(*outcome, ReadWorkerLog(log_.get()), kind());
}

Result<ProcessFailure> WorkerProcess::CheckPython() {
  std::string reason;
  if (!RunsAlone(peer_->pid())) {
    reason = "ModelNew left a process running; only its own threads may live on after a call";
  } else if (!python_->kept) {
    python_->kept = true;
    // Sealing can only fail if the candidate sealed the memory first.
    if (!python_->keep.Seal(SealKind::kFutureWrites)) reason = "ModelNew sealed memory of pragma's";
  }
  if (reason.empty()) return ProcessFailure();
  if (auto killed = jailed_->Kill(); !killed) return std::unexpected(killed.error());
  return std::optional<WorkerFailure>(
      {.status = Status::kSandboxViolation, .reason = reason, .log = ReadWorkerLog(log_.get())});
}

void WorkerProcess::Poison(Rng& rng, std::span<const std::uint32_t> sets) {
  for (const std::uint32_t set : sets) {
    for (std::size_t i = 0; i < task_->outputs.size(); ++i) {
      const std::size_t offset = ring_->placement().outputs[set][i];
      PoisonBytes(rng, outputs_.bytes().subspan(offset, task_->outputs[i].bytes()));
    }
  }
  PoisonBytes(rng, scratch_.bytes().first(scratch_bytes_));
}

void WorkerProcess::FillOutputs(Rng& rng, std::uint32_t set, Prefill prefill) {
  for (std::size_t i = 0; i < task_->outputs.size(); ++i) {
    const std::span<std::byte> output =
        outputs_.bytes().subspan(ring_->placement().outputs[set][i], task_->outputs[i].bytes());
    if (prefill == Prefill::kZeros) {
      std::ranges::fill(output, std::byte{0});
    } else {
      PoisonBytes(rng, output);
    }
  }
}

std::optional<std::string> WorkerProcess::BrokenGuard(std::uint32_t set) const {
  // All bytes between the tensors of a set are zero and must stay zero: guard pages and slack.
  const std::vector<std::size_t>& offsets = ring_->placement().outputs[set];
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::size_t begin = offsets[i] / page * page - page;
    const std::size_t end =
        (offsets[i] + std::max<std::size_t>(task_->outputs[i].bytes(), 1) + page - 1) / page *
            page +
        page;
    const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
    const auto before = outputs_.bytes().subspan(begin, offsets[i] - begin);
    const std::size_t after_at = offsets[i] + task_->outputs[i].bytes();
    const auto after = outputs_.bytes().subspan(after_at, end - after_at);
    if (!std::ranges::all_of(before, zero) || !std::ranges::all_of(after, zero))
      return task_->outputs[i].name;
  }
  return std::nullopt;
}

std::span<const std::byte> WorkerProcess::output(std::uint32_t set, std::size_t index) const {
  return outputs_.bytes().subspan(ring_->placement().outputs[set][index],
                                  task_->outputs[index].bytes());
}

void WorkerProcess::WriteOutput(std::uint32_t set, std::size_t index,
                                std::span<const std::byte> bytes) {
  std::ranges::copy(bytes,
                    outputs_.bytes().subspan(ring_->placement().outputs[set][index]).begin());
}

}  // namespace pragma
