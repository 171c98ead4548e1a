// HostCalls: the checked calls of a candidate on the processors. Its outputs are in memory that
// pragma can read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "build/builder.h"
#include "harness/dead_stacks.h"
#include "harness/worker_process.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "verify/checked_calls.h"
#include "verify/options.h"
#include "verify/stage.h"

namespace pragma {

struct Judging;

// What candidates on the processors are run with. All references are borrowed and must outlive the
// evaluation.
struct HostParts {
  Stage& stage;
  const Jail& jail;
  Machine& machine;                           // its figures improve when it is measured again
  const std::vector<std::string>& libraries;  // libraries that the worker's jail binds
  const VerifyOptions& options;
  WorkerOptions worker;
};

// What a tuner needs to build, check and time variants of a candidate.
struct VariantParts {
  HostParts host;
  const Builder& builder;
  const std::string& kernel_header;
};

class HostCalls final : public CheckedCalls {
 public:
  HostCalls(const HostParts& parts, Judging& judging) : parts_(parts), judging_(judging) {}

  Result<bool> Start(History history) override;
  void Choose(History history) override;
  [[nodiscard]] TimedProcess& process() override { return *worker_; }
  [[nodiscard]] std::vector<std::string> OtherThreads() const override;
  Result<bool> StartWith(std::size_t threads) override;
  [[nodiscard]] Seconds StateBudget() const override { return parts_.options.state_budget; }

  Result<bool> Call(std::uint32_t slot) override;
  Result<bool> MeasuredCall(std::uint32_t slot) override;
  Result<bool> CallOnKept(std::uint32_t slot) override;
  Result<void> Refill(std::uint32_t slot) override;
  Result<bool> CallMany(std::span<const std::uint32_t> slots) override;
  Result<void> Publish(std::uint32_t slot) override;
  Result<std::vector<std::byte>> ReadKept(Kept where) override;
  Result<bool> WriteKept(Kept where, std::span<const std::byte> kept) override;

 private:
  Result<bool> StartIn(std::optional<WorkerProcess>& place, const WorkerOptions& options);
  [[nodiscard]] Result<WorkerProcess> Spawn(const WorkerOptions& options);
  Result<bool> Load(WorkerProcess& worker);
  Result<bool> Prepare(std::uint32_t slot);
  Result<bool> Run(std::span<const std::uint32_t> slots, Nanoseconds* elapsed);
  [[nodiscard]] std::vector<WorkerOptions> OtherOptions() const;

  const HostParts& parts_;
  Judging& judging_;
  std::optional<WorkerProcess> used_;
  std::optional<WorkerProcess> pristine_;
  std::optional<WorkerProcess> other_;  // with another number of threads
  WorkerProcess* worker_ = nullptr;     // the process that makes the calls
  std::optional<DeadStacks> stacks_;    // stacks of the used process, once they were read
};

}  // namespace pragma
