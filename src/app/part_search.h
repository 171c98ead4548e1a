// Searches for a kernel for a part of something larger: an island of a task, a submodule of a
// model. A part's time is measured roughly, because the whole is measured exactly.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/context.h"
#include "app/search_choice.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/judging.h"
#include "core/timing.h"

namespace pragma {

struct PartWish {
  const SearchChoice& choice;  // its attempts are those of each part
  const JudgingOptions& judging;
  bool lint = true;
};

struct PartFound {
  std::string run;                     // id of its run
  std::string bundle;                  // sha256 of the kernel's evidence; empty: there is none
  std::string outcome;                 // why there is no faster kernel; empty: there is one
  std::optional<Interval> speedup;     // over eager
  std::optional<Candidate> candidate;  // passed; it may be slower than eager
};

// Opens the part's task. What is wrong with the task itself is an error of the kind kTask.
[[nodiscard]] Result<std::unique_ptr<TaskBench>> OpenPart(Workbench& bench,
                                                          const std::filesystem::path& file,
                                                          const PartWish& wish,
                                                          const Deadline& deadline);

// Runs a search on the part, whose task is in `file`.
[[nodiscard]] Result<PartFound> SearchPart(const AppContext& context, Workbench& bench,
                                           TaskBench& part, const std::filesystem::path& file,
                                           const PartWish& wish, const Deadline& deadline,
                                           const SearchObserver& observer);

}  // namespace pragma
