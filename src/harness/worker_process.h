// WorkerProcess: one candidate in its jail, with the outputs and the scratch memory that it writes.
// C++ candidates run in pragma-worker, Python candidates in pragma_candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "core/status.h"
#include "core/task.h"
#include "harness/peer.h"
#include "harness/ring.h"
#include "harness/timed_process.h"
#include "harness/worker_failure.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

struct WorkerOptions {
  int threads = 1;       // OMP_NUM_THREADS, the same as the baseline's
  bool bound = true;     // each thread is bound to a processor, as on every timed side
  int thread_limit = 0;  // OMP_THREAD_LIMIT; 0: no limit
  std::size_t memory_allowance_bytes = std::size_t{2} << 30U;  // in addition to its shared memory
  Seconds load_limit{20};
  Seconds run_limit{60};  // for one call
  // Load limit for a Python candidate, which imports torch and may run a compiler while it is
  // loaded.
  Seconds python_load_limit{300};
  // A Python candidate only: it makes calls as a user makes them (TimedProcess::Repeat), with this
  // allocator.
  bool as_call = false;
  Allocator allocator = Allocator::kDefault;

  // Time limit for a burst of `calls` calls. Single calls were timed when the candidate was
  // checked. Longer bursts therefore contain only calls that are far below the limit.
  [[nodiscard]] Seconds BurstLimit(std::size_t calls) const {
    return run_limit * (calls > 1 ? 2 : 1);
  }
};

// The libraries that the worker's jail binds. They are found once by asking the worker program,
// which then runs without a jail.
[[nodiscard]] Result<std::vector<std::string>> WorkerLibraries(const Jail& jail);

class WorkerProcess final : public TimedProcess {
 public:
  // Starts the jail without loading the candidate. `ring` and `task` must outlive the worker.
  [[nodiscard]] static Result<WorkerProcess> Start(const Jail& jail,
                                                   const std::vector<std::string>& libraries,
                                                   const BuiltKernel& kernel, const Task& task,
                                                   const Ring& ring, const WorkerOptions& options);

  [[nodiscard]] Result<ProcessFailure> Load() override;
  [[nodiscard]] Result<ProcessFailure> Run(std::span<const std::uint32_t> sets,
                                           Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> RunEmpty(std::span<const std::uint32_t> sets,
                                                Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> Repeat(std::uint32_t set, std::uint32_t times,
                                              Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> Prepare(std::span<const std::uint32_t> sets,
                                               Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> Deliver(std::uint32_t set) override;
  [[nodiscard]] Result<ProcessFailure> Freeze() override;
  [[nodiscard]] Result<void> Thaw() override { return jailed_->Thaw(); }
  [[nodiscard]] Seconds CpuTime() const override { return peer_->CpuTime(); }
  [[nodiscard]] std::uint64_t PageFaults() const override { return peer_->PageFaults(); }
  void Kill() override { peer_->Kill(); }
  void Poison(Rng& rng, std::span<const std::uint32_t> sets) override;
  [[nodiscard]] std::optional<std::string> BrokenGuard(std::uint32_t set) const override;
  [[nodiscard]] std::span<const std::byte> output(std::uint32_t set,
                                                  std::size_t index) const override;
  void WriteOutput(std::uint32_t set, std::size_t index, std::span<const std::byte> bytes) override;

  // What the outputs hold before a call. FillOutputs leaves the scratch memory alone.
  enum class Prefill : std::uint8_t { kRandom, kZeros };
  void FillOutputs(Rng& rng, std::uint32_t set, Prefill prefill);
  // Scrambles the next Run (pragma_control::scramble). Has no effect on a Python candidate.
  void ScrambleNext(std::uint32_t seed) { peer_->doorbell().ScrambleNext(seed); }
  // Returns what a C++ candidate kept from its calls: static data, thread-local data of its main
  // thread and scratch memory, concatenated. Only the first 64 MiB are returned. The result is
  // empty where there is nothing or where the system does not let us look.
  [[nodiscard]] std::vector<std::byte> ReadKept() const;
  // Writes such memory back. `kept` must have the length of ReadKept's result. Returns false if the
  // system does not let us.
  [[nodiscard]] bool WriteKept(std::span<const std::byte> kept);
  [[nodiscard]] Peer& peer() { return *peer_; }

 private:
  WorkerProcess(const Task& task, const Ring& ring, WorkerOptions options);
  [[nodiscard]] Result<ProcessFailure> Send(pragma_command command,
                                            std::span<const std::uint32_t> sets, Seconds limit,
                                            Nanoseconds* elapsed);
  [[nodiscard]] Result<WorkerFailure> Killed(Status status, std::string reason);
  [[nodiscard]] Result<WorkerFailure> Explain(const PeerReply& reply, Seconds limit);
  [[nodiscard]] WorkerKind kind() const {
    return python_ == nullptr ? WorkerKind::kNative : WorkerKind::kPython;
  }
  // Checks, after a run of a Python candidate, that it left nothing behind that it must not leave.
  [[nodiscard]] Result<ProcessFailure> CheckPython();

  struct KeptParts;
  [[nodiscard]] KeptParts Parts() const;

  const Task* task_;
  const Ring* ring_;
  WorkerOptions options_;
  SharedMemory outputs_;
  SharedMemory scratch_;
  std::shared_ptr<PythonKernel> python_;  // nullptr for a C++ candidate
  std::size_t scratch_bytes_ = 0;  // poisoned before a burst, unlike the packed areas behind it
  UniqueFd log_;
  std::optional<JailedProcess> jailed_;
  std::unique_ptr<Peer> peer_;
  bool looped_ = false;  // what the last call of a Repeat returned is there
};

}  // namespace pragma
