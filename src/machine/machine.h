// Machine: the hardware as measured (once per machine, kept in the store), and the locks that keep
// timings of several pragma processes from disturbing each other.
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
#include "core/backend.h"
#include "core/candidate.h"
#include "core/device.h"

namespace pragma {

struct CacheLevel {
  int level = 1;
  std::size_t bytes = 0;       // size of one instance
  int shared_by = 1;           // number of logical processors that share it
  int ways = 0;                // associativity; 0: unknown
  std::size_t line_bytes = 0;  // 0: unknown
};

struct Bandwidth {
  std::size_t working_set_bytes = 0;
  double read_gbs = 0;  // 1e9 bytes per second, all threads
  double copy_gbs = 0;  // bytes read plus bytes written
  double write_gbs = 0;
};

struct Machine {
  std::string cpu;                    // "AMD EPYC 7B13"
  std::string fingerprint;            // changes when the figures must be measured again
  int threads = 1;                    // that this process can keep busy (machine/processors.h)
  std::vector<std::string> features;  // "avx2", "fma", "avx512f", ...
  std::vector<CacheLevel> caches;
  std::size_t memory_bytes = 0;
  double peak_gflops = 0;  // measured fp32 FMA peak, all threads; 0: not measured yet
  double bf16_gflops = 0;  // measured peak of bf16 products (AMX, AVX512_BF16); 0: no such
                           // unit; below 0: not measured yet
  std::vector<Bandwidth> bandwidth;  // by working set, increasing
  std::optional<Device> device;      // GPU that kernels are measured on; nullopt: the CPU
  [[nodiscard]] std::size_t last_level_cache_bytes() const;
  // Returns the part of the last-level cache that this machine really gets, judged by the measured
  // bandwidths. In a virtual machine, neighbours may occupy the rest. Returns the described size
  // where nothing was measured or no measurement contradicts it.
  [[nodiscard]] std::size_t usable_last_level_bytes() const;
  // Returns the usable bytes of one of `caches`: the usable part of the last one, or all of any
  // other.
  [[nodiscard]] std::size_t usable_bytes(const CacheLevel& cache) const;
  [[nodiscard]] std::string Summary() const;  // a few lines for prompts and for `pragma doctor`
};

// Describes the machine from /proc and /sys. It measures no figures.
[[nodiscard]] Result<Machine> DescribeMachine();
// Loads all *.toml files of a folder (core/backend.h), sorted by name. A probe that is not a
// program of pragma's own becomes a path: it is relative to the folder.
[[nodiscard]] Result<std::vector<Backend>> LoadBackends(const std::filesystem::path& folder);
// Returns the device of this backend that kernels would be measured on. Fails with kUnavailable,
// and the reason, where there is none. `number` is a Device::number. Empty: the first device that
// this process may see.
[[nodiscard]] Result<Device> FindDevice(const Backend& backend, const std::string& program_dir,
                                        const std::string& number = {});
// Returns the device of the first of the backends that runs the language and has one. The error
// holds all reasons.
[[nodiscard]] Result<Device> FindDeviceFor(Language language, const std::vector<Backend>& backends,
                                           const std::string& program_dir,
                                           const std::string& number = {});
// Fills in the peak and the bandwidths by running the probe program, which takes about a second.
[[nodiscard]] Result<void> MeasureMachine(Machine& machine, const std::string& program_dir);
// Measures the current bandwidths of memory (working sets beyond the caches). In a virtual machine
// they change within minutes.
[[nodiscard]] Result<Bandwidth> MeasureMemory(int threads, const std::string& program_dir);
// Merges two measurements of the same machine: takes the higher of each figure, because a
// disturbance can only lower one.
[[nodiscard]] Machine BetterFigures(const Machine& a, const Machine& b);
[[nodiscard]] std::string MachineToJson(const Machine& machine);
[[nodiscard]] Result<Machine> MachineFromJson(std::string_view text);

// MachineLock: makes timing exclusive on the machine or on one of its GPUs. Builds, checks and
// reference runs share the lock. It uses flock on files in /tmp, so it ends with its holder. A
// waiting timer goes first.
class MachineLock final {
 public:
  enum class Kind : std::uint8_t { kShared, kExclusive };
  // Takes the lock. Blocks until it is free. Ctrl-C ends the wait with kInterrupted.
  [[nodiscard]] static Result<MachineLock> Take(Kind kind);
  // Takes the lock for work on a GPU. It excludes only other work on the same GPU, and the machine
  // is shared meanwhile.
  [[nodiscard]] static Result<MachineLock> Take(Kind kind, const std::optional<Device>& device);

 private:
  struct Pair {
    UniqueFd gate;
    UniqueFd lock;
  };
  Pair machine_;
  Pair device_;  // released first
};

// DeviceSeat: a process's place among the users of one of several GPUs, held until the object dies.
// The next user takes the GPU with the fewest users.
class DeviceSeat final {
 public:
  // Takes a seat. `numbers` must not be empty.
  [[nodiscard]] static Result<DeviceSeat> Take(const std::vector<std::string>& numbers);
  [[nodiscard]] const std::string& number() const { return number_; }

 private:
  std::string number_;
  UniqueFd seat_;
};

}  // namespace pragma
