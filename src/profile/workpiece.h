// Workpiece: one kernel while it is profiled: the objects made from it, its memory, and what the
// providers found so far. Private to profile/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/profile.h"
#include "harness/ring.h"
#include "harness/worker_memory.h"
#include "profile/builds.h"
#include "profile/metrics.h"
#include "profile/subject.h"

namespace pragma {

// What is known of one line of kernel.cpp.
struct LineFigures {
  double samples = 0;
  double instructions = 0;
  double l1_misses = 0;
  double line_splits = 0;
};

struct Workpiece {
  const ProfileSubject& subject;
  Ring ring;            // each set holds the same drawn inputs
  WorkerMemory memory;  // outputs, scratch, control page
  MetricSet metrics;
  std::optional<KernelBuilds> builds;       // none: why is in the note of the provider "assembly"
  std::vector<std::uint64_t> block_counts;  // of builds->assembly.blocks, of one call
  std::vector<double> block_samples;        // likewise
  double samples = 0;                       // all of them, those outside the kernel too
  std::map<int, LineFigures> lines;         // by line
  std::map<int, std::string> remarks;       // the compilers' reasons, by line
  std::vector<ProviderNote> notes;
};

// Draws one input set and lays it out for every set of a ring that is as large as a warm timing's.
[[nodiscard]] Result<Workpiece> OpenWorkpiece(const ProfileSubject& subject);

// One run of pragma-profiler (worker/profiler/host.h).
struct HostRun {
  std::string mode;
  std::string object;                // file name in the builds' folder of outputs
  std::vector<std::string> options;  // NAME=VALUE
  int threads = 1;
  double limit_seconds = 30;
  // Threads that wait for others sleep, so that their processor time is work only; as timed, they
  // may spin.
  bool waiting_sleeps = false;
};

// Lines of words; foreign text.
struct HostReport {
  std::string failure;  // why there is no report; the rest is empty then
  std::vector<std::vector<std::string>> lines;
  // The number after the first line that begins with `word`.
  [[nodiscard]] std::optional<double> Number(const std::string& word) const;
};
[[nodiscard]] Result<HostReport> RunHost(const Workpiece& piece, const HostRun& run);
// The words of a result's lines; without its "end" it was cut off, which is a failure.
[[nodiscard]] HostReport ReadHostReport(const std::string& text);

}  // namespace pragma
