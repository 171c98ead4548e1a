// Optimises a task of which no author can write every operator (docs/islands.md). The task's graph
// is cut into islands, each island is a task of its own with its own run, and the kernels that are
// faster than Torch are put together with Torch's operators into one Python candidate.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "app/part_search.h"
#include "app/search_choice.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/islands.h"
#include "core/judging.h"
#include "core/task.h"
#include "core/timing.h"
#include "export/mixed.h"
#include "search/seed_kernel.h"

namespace pragma {

// An island and what came of it.
struct IslandWork {
  Island island;
  std::string name;                 // of its task
  double share = 0;                 // of the time that Torch takes for all operators one by one
  std::string run;                  // id of its run; empty: it was not tried
  std::string bundle;               // sha256 of its kernel's evidence; empty: there is none
  std::string outcome;              // why there is no kernel; empty: there is one
  std::optional<Interval> speedup;  // of the kernel over eager
  std::optional<IslandKernel> kernel;
};

struct IslandsOutcome {
  std::vector<IslandWork> islands;  // in execution order
  std::vector<std::string> left;    // operators that stay Torch's
  // The candidates to judge on the whole, and which islands (indices) each contains. Each has more
  // islands than the one before, those that gain most first.
  std::vector<SeedKernel> seeds;
  std::vector<std::vector<std::size_t>> members;
  std::string refusal;  // why nothing was written; empty: seeds has something
};

// What is called while islands are optimised.
struct IslandsObserver {
  // Before an island's search begins, and for its attempts. Both may be empty.
  std::function<void(const IslandWork& island, std::size_t number, std::size_t all)> on_island;
  SearchObserver search;
};

struct IslandsWish {
  PartWish part;
  Deadline deadline;       // of the whole command
  bool candidates = true;  // false: the islands' kernels are all that is wanted
};

// Returns whether the expert is to write a CPU kernel for a task of which it cannot write all.
[[nodiscard]] bool NeedsIslands(const SearchChoice& choice, const JudgingOptions& judging,
                                const Task& task);

// Finds the islands of an open task and runs a search on each that takes enough time to matter, the
// one that takes most first. The first part of the time until the deadline is shared among them by
// their time; an island for which none is left is not tried. The attempts of `choice` are those of
// each. An island's time is measured roughly, because the whole is measured exactly.
[[nodiscard]] Result<IslandsOutcome> OptimizeIslands(const AppContext& context, Workbench& bench,
                                                     TaskBench& task, const IslandsWish& wish,
                                                     const IslandsObserver& observer);

// Returns the islands (indices) whose kernel is faster, those that save most of the whole first.
[[nodiscard]] std::vector<std::size_t> IslandsByGain(const std::vector<IslandWork>& islands);

// Makes the run of the whole judge the outcome's candidates and nothing else.
void SearchSeedsOnly(const IslandsOutcome& outcome, SearchPlan& plan);

}  // namespace pragma
