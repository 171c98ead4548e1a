// Workpiece: one kernel while it is being profiled: the objects made from it, its memory, and the
// results of the providers so far. Private to profile/.
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

// What is known about one line of kernel.cpp.
struct LineFigures {
  double samples = 0;
  double instructions = 0;
  double l1_misses = 0;
  double line_splits = 0;
};

struct Workpiece {
  const ProfileSubject& subject;
  Ring ring;            // each input set holds the same drawn inputs
  WorkerMemory memory;  // outputs, scratch, control page
  MetricSet metrics;
  std::optional<KernelBuilds> builds;       // none: the note of provider "assembly" says why
  std::vector<std::uint64_t> block_counts;  // per block of builds->assembly.blocks, for one call
  std::vector<double> block_samples;        // samples, per block in the same way
  double samples = 0;                       // all samples, including those outside the kernel
  std::map<int, LineFigures> lines;         // by line
  std::map<int, std::string> remarks;       // the compilers' reasons, by line
  std::vector<ProviderNote> notes;
};

// Draws one input set and copies it into every set of a ring that is as large as the one for warm
// timing.
[[nodiscard]] Result<Workpiece> OpenWorkpiece(const ProfileSubject& subject);

// One run of pragma-profiler (worker/profiler/host.h).
struct HostRun {
  std::string mode;
  std::string object;                // file name in the builds' output folder
  std::vector<std::string> options;  // NAME=VALUE
  int threads = 1;
  double limit_seconds = 30;
  // Waiting threads sleep, so that their processor time counts work only. In timing runs they may
  // spin.
  bool waiting_sleeps = false;
};

// A report of lines of words, which is untrusted text.
struct HostReport {
  std::string failure;  // why there is no report; the rest is then empty
  std::vector<std::vector<std::string>> lines;
  // Returns the number after the first line that begins with `word`.
  [[nodiscard]] std::optional<double> Number(const std::string& word) const;
};
[[nodiscard]] Result<HostReport> RunHost(const Workpiece& piece, const HostRun& run);
// Splits a result into the words of its lines. A text without its "end" was cut off, which is a
// failure.
[[nodiscard]] HostReport ReadHostReport(const std::string& text);

}  // namespace pragma
