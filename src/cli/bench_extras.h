// What a benchmark adds to a row when it is asked for: timing by the paper's protocol, and ModelNew
// for KernelBench's files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "bench/row.h"
#include "cli/bench_flags.h"
#include "cli/command.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/task.h"
#include "verify/paper_timing.h"

namespace pragma {

// What is measured beside the row's own figures.
struct ExtrasSubject {
  const Task& task;
  const std::string& header;   // kernel.h
  const Candidate* candidate;  // nullptr: nothing passed
  // The task, opened when it must be; asked for only where the store has no figure.
  std::function<Result<TaskBench*>()> open;
};
// For BenchFlags::WantsExtras.
[[nodiscard]] Result<void> AddExtras(const Context& context, Workbench& bench,
                                     const BenchFlags& flags, const ExtrasSubject& subject,
                                     BenchRow& row);

[[nodiscard]] std::string PaperTimingText(const PaperTiming& timing);
// kInternal for a text that is none.
[[nodiscard]] Result<PaperTiming> ReadPaperTiming(const std::string& text);

}  // namespace pragma
