// Machine: the hardware as measured (once per machine, kept in the store), and the locks that keep
// timing honest between several pragma processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "core/device.h"

namespace pragma {

struct CacheLevel {
  int level = 1;
  std::size_t bytes = 0;       // of one instance
  int shared_by = 1;           // logical processors
  int ways = 0;                // associativity; 0: not known
  std::size_t line_bytes = 0;  // 0: not known
};

struct Bandwidth {
  std::size_t working_set_bytes = 0;
  double read_gbs = 0;  // 1e9 bytes per second, all threads
  double copy_gbs = 0;  // bytes read plus bytes written
  double write_gbs = 0;
};

struct Machine {
  std::string cpu;                    // "AMD EPYC 7B13"
  std::string fingerprint;            // changes when figures must be measured anew
  int threads = 1;                    // processors this process may use
  std::vector<std::string> features;  // "avx2", "fma", "avx512f", ...
  std::vector<CacheLevel> caches;
  std::size_t memory_bytes = 0;
  double peak_gflops = 0;            // fp32 FMA, all threads, measured; 0: not measured yet
  std::vector<Bandwidth> bandwidth;  // by working set, rising
  std::optional<Device> device;      // where kernels are measured; none: on the processors
  [[nodiscard]] std::size_t last_level_cache_bytes() const;
  // How much of it serves us by the measured bandwidths: in a virtual machine neighbours may have
  // the rest. As described where nothing was measured or nothing contradicts.
  [[nodiscard]] std::size_t usable_last_level_bytes() const;
  // Of one of `caches`: the last as far as it is usable, the others whole.
  [[nodiscard]] std::size_t usable_bytes(const CacheLevel& cache) const;
  [[nodiscard]] std::string Summary() const;  // a few lines for prompts and doctor
};

// Reads /proc and /sys; no figures.
[[nodiscard]] Result<Machine> DescribeMachine();
// The GPU that kernels would be measured on; kUnavailable, and why, where there is none.
// `number`: Device::number; empty: the first one that this process may see.
[[nodiscard]] Result<Device> FindDevice(const std::string& program_dir,
                                        const std::string& number = {});
// Fills in peak and bandwidths with the probe program (about a second).
[[nodiscard]] Result<void> MeasureMachine(Machine& machine, const std::string& program_dir);
// The bandwidths beyond the caches as they are now; those of a virtual machine change within
// minutes.
[[nodiscard]] Result<Bandwidth> MeasureMemory(int threads, const std::string& program_dir);
// The same machine measured twice: the higher of each figure, since a disturbance can only lower
// one.
[[nodiscard]] Machine BetterFigures(const Machine& a, const Machine& b);
[[nodiscard]] std::string MachineToJson(const Machine& machine);
[[nodiscard]] Result<Machine> MachineFromJson(std::string_view text);

// Timing is exclusive on the machine, or on one of its GPUs; builds, checks and reference runs
// share. flock on files in /tmp, so it dies with its holder; a waiting timer goes first.
class MachineLock final {
 public:
  enum class Kind : std::uint8_t { kShared, kExclusive };
  // Blocks. Interrupt: kInterrupted.
  [[nodiscard]] static Result<MachineLock> Take(Kind kind);
  // For work on a GPU: exclusive of other work on the same one only, while the machine is shared.
  [[nodiscard]] static Result<MachineLock> Take(Kind kind, const std::optional<Device>& device);

 private:
  struct Pair {
    UniqueFd gate;
    UniqueFd lock;
  };
  Pair machine_;
  Pair device_;  // released first
};

// A place among the users of one of several GPUs, kept until it dies: whoever comes next takes the
// GPU with the fewest.
class DeviceSeat final {
 public:
  // `numbers`: not empty.
  [[nodiscard]] static Result<DeviceSeat> Take(const std::vector<std::string>& numbers);
  [[nodiscard]] const std::string& number() const { return number_; }

 private:
  std::string number_;
  UniqueFd seat_;
};

}  // namespace pragma
