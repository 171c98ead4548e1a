// Verifier: a candidate to an Evaluation: build, run in the jail on secret inputs, compare, time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/stage.h"

namespace pragma {

enum class CheckMode : std::uint8_t { kStrict, kOfficial };
enum class Measure : std::uint8_t {
  kNothing,          // checks only
  kEager,            // against eager, and the present best when one is given
  kEagerAndCompile,  // and torch.compile: for the first passed candidate and the final best
};

struct VerifyOptions {
  CheckMode mode = CheckMode::kStrict;
  CacheState cache = CacheState::kWarm;
  int check_sets = 5;
  Seconds run_limit{60};       // of one call of the kernel
  Seconds timing_budget{1.0};  // aim for the timed part; at least five process pairs are run
  std::size_t memory_allowance_bytes = std::size_t{2} << 30U;  // of a worker, above its ring
  std::optional<Seed> seed;  // recheck and replay only; otherwise drawn after the build
};

// What is worth keeping of a task between runs: cli or search hands it to the store.
struct TaskBaseline {
  Allocator eager = Allocator::kDefault;  // the faster setting for eager
  double eager_ms = 0;
  std::optional<Allocator> compile;  // and for torch.compile, once measured
};

class Verifier final {
 public:
  // All parts outlive the verifier. The reference stays warm in `server`.
  Verifier(TorchServer& server, const Builder& builder, const Jail& jail, const Machine& machine,
           VerifyOptions options);
  Verifier(Verifier&&) noexcept;
  ~Verifier();

  using Progress = std::function<void(std::string_view phase)>;  // "build", "check 3/5", "time 2/5"
  // `best`: the present best, to be timed against as well; nullptr: none. Errors only for our own
  // trouble.
  [[nodiscard]] Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best,
                                            Measure measure, const Progress& progress = {});
  [[nodiscard]] std::optional<TaskBaseline> baseline() const;
  void set_baseline(const TaskBaseline& baseline);
  // Of the evaluations from now on: VerifyOptions::seed.
  void set_seed(const std::optional<Seed>& seed);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
