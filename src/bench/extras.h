// Adds to a benchmark row what the user asked for in addition: timing by the paper's protocol, and
// ModelNew for KernelBench's files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/context.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "bench/options.h"
#include "core/candidate.h"
#include "core/task.h"
#include "verify/paper_timing.h"

namespace pragma {

struct BenchRow;

// What is measured in addition to the row's own figures.
struct ExtrasSubject {
  const Task& task;
  const std::string& header;   // kernel.h
  const Candidate* candidate;  // nullptr: no kernel passed
  // Returns the task, and opens it first if necessary. It is called only where the store has no
  // figure.
  std::function<Result<TaskBench*>()> open;
};
// Measures the extras and adds them to `row`. Called only if BenchOptions::WantsExtras().
[[nodiscard]] Result<void> AddExtras(const AppContext& context, Workbench& bench,
                                     const BenchOptions& options, const ExtrasSubject& subject,
                                     BenchRow& row);

[[nodiscard]] std::string PaperTimingText(const PaperTiming& timing);
// Fails with kInternal if `text` is not a stored timing.
[[nodiscard]] Result<PaperTiming> ReadPaperTiming(const std::string& text);

}  // namespace pragma
