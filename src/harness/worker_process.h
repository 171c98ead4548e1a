// WorkerProcess: one candidate in its jail (C++: pragma-worker; Python: pragma_candidate), with the
// outputs and the scratch it writes.
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
#include "core/evaluation.h"
#include "core/task.h"
#include "harness/peer.h"
#include "harness/ring.h"
#include "harness/worker_failure.h"
#include "sandbox/jail.h"

namespace pragma {

struct WorkerOptions {
  int threads = 1;       // OMP_NUM_THREADS, the same as the baseline's
  bool bound = true;     // each to a processor, as on every timed side
  int thread_limit = 0;  // OMP_THREAD_LIMIT; 0: none
  std::size_t memory_allowance_bytes = std::size_t{2} << 30U;  // above its shared memory
  Seconds load_limit{20};
  Seconds run_limit{60};  // of one call
  // A Python candidate imports torch, and may run a compiler while it is loaded.
  Seconds python_load_limit{300};

  // Single calls were timed when it was checked: longer bursts are of calls far below the limit.
  [[nodiscard]] Seconds BurstLimit(std::size_t calls) const {
    return run_limit * (calls > 1 ? 2 : 1);
  }
};

// The libraries that the worker's jail binds. Found once by asking the worker program (unjailed).
[[nodiscard]] Result<std::vector<std::string>> WorkerLibraries(const Jail& jail);

class WorkerProcess final {
 public:
  // Starts the jail; the candidate is not loaded yet. `ring` and `task` outlive the worker.
  [[nodiscard]] static Result<WorkerProcess> Start(const Jail& jail,
                                                   const std::vector<std::string>& libraries,
                                                   const BuiltKernel& kernel, const Task& task,
                                                   const Ring& ring, const WorkerOptions& options);

  // nullopt: fine. After a failure the worker is dead.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Load();
  // Calls the kernel once for each listed set; `elapsed` is the parent's clock round the doorbell.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Run(std::span<const std::uint32_t> sets,
                                                         Nanoseconds* elapsed);
  // The doorbell's own cost for as many calls.
  [[nodiscard]] Result<std::optional<WorkerFailure>> RunEmpty(std::span<const std::uint32_t> sets,
                                                              Nanoseconds* elapsed);
  // pragma_prepare for each listed set.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Prepare(std::span<const std::uint32_t> sets,
                                                             Nanoseconds* elapsed);

  // Stops it; a kernel that died meanwhile, or that cannot be stopped, has failed. Thaw lets it go
  // on.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Freeze();
  [[nodiscard]] Result<void> Thaw() const { return jailed_->Thaw(); }

  // Fresh random bytes into the outputs and guard pages of the listed sets and into the scratch.
  void Poison(Rng& rng, std::span<const std::uint32_t> sets);
  // What the outputs hold before a call, without a look at the scratch.
  enum class Prefill : std::uint8_t { kRandom, kZeros };
  void FillOutputs(Rng& rng, std::uint32_t set, Prefill prefill);
  // The next Run is scrambled (pragma_control::scramble). A Python candidate's is as ever.
  void ScrambleNext(std::uint32_t seed) { peer_->doorbell().ScrambleNext(seed); }
  // What a C++ candidate kept from its calls: static data, thread-local data of its main thread and
  // scratch, one behind the other; of more than 64 MiB the first. Empty where there is none, or the
  // system does not let us look.
  [[nodiscard]] std::vector<std::byte> ReadKept() const;
  // `kept` is as long as what ReadKept gives. False: the system does not let us.
  [[nodiscard]] bool WriteKept(std::span<const std::byte> kept);
  // Name of an output whose surroundings were written, or nullopt.
  [[nodiscard]] std::optional<std::string> BrokenGuard(std::uint32_t set) const;
  [[nodiscard]] std::span<const std::byte> output(std::uint32_t set, std::size_t index) const;
  [[nodiscard]] Peer& peer() { return *peer_; }

 private:
  WorkerProcess(const Task& task, const Ring& ring, WorkerOptions options);
  [[nodiscard]] Result<std::optional<WorkerFailure>> Send(pragma_command command,
                                                          std::span<const std::uint32_t> sets,
                                                          Seconds limit, Nanoseconds* elapsed);
  [[nodiscard]] Result<WorkerFailure> Killed(Status status, std::string reason);
  [[nodiscard]] Result<WorkerFailure> Explain(const PeerReply& reply, Seconds limit);
  [[nodiscard]] WorkerKind kind() const {
    return python_ == nullptr ? WorkerKind::kNative : WorkerKind::kPython;
  }
  // After a run of a Python candidate: what it must not leave behind.
  [[nodiscard]] Result<std::optional<WorkerFailure>> CheckPython();

  struct KeptParts;
  [[nodiscard]] KeptParts Parts() const;

  const Task* task_;
  const Ring* ring_;
  WorkerOptions options_;
  SharedMemory outputs_;
  SharedMemory scratch_;
  std::shared_ptr<PythonKernel> python_;  // nullptr: a C++ candidate
  std::size_t scratch_bytes_ = 0;  // poisoned before a burst; the packed areas behind it are not
  UniqueFd log_;
  std::optional<JailedProcess> jailed_;
  std::unique_ptr<Peer> peer_;
};

}  // namespace pragma
