#include "bench/loop.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "bench/row.h"
#include "bench/suite.h"
#include "core/spent.h"

namespace pragma {
namespace {

// A task that fails by itself is a result of the suite, not an error of the benchmark.
Result<std::optional<BenchRow>> RunOne(const BenchCell& cell, const RunCell& run,
                                       Spending spending) {
  Result<std::optional<BenchRow>> row = run(cell, spending);
  if (row || row.error().kind != ErrorKind::kTask) return row;
  return BenchRow{.cell = cell, .problem = row.error().message};
}

// The state shared by the threads of one RunBench.
class Bench final {
 public:
  Bench(const std::vector<BenchCell>& cells, const BenchLimits& limits, const RunCell& run,
        const std::function<void(const BenchRow&)>& on_row)
      : cells_(cells), limits_(limits), run_(run), on_row_(on_row), done_(cells.size()) {}

  void Work();
  Result<BenchResult> Take();

 private:
  struct Turn {
    std::size_t cell = 0;
    Spending spending = Spending::kAllowed;
  };
  std::optional<Turn> NextTurn();
  void Finish(std::size_t cell, Result<std::optional<BenchRow>> row);
  void NoteError(const Error& error);

  const std::vector<BenchCell>& cells_;
  const BenchLimits& limits_;
  const RunCell& run_;
  const std::function<void(const BenchRow&)>& on_row_;
  std::mutex mutex_;  // guards all members below
  std::vector<std::optional<BenchRow>> done_;
  std::vector<std::size_t> not_begun_;
  std::size_t next_ = 0;
  std::size_t working_ = 0;
  Spent spent_;
  bool interrupted_ = false;
  std::optional<Error> error_;
};

void Bench::Work() {
  while (const std::optional<Turn> turn = NextTurn()) {
    Result<std::optional<BenchRow>> row = RunOne(cells_[turn->cell], run_, turn->spending);
    Finish(turn->cell, std::move(row));
  }
}

std::optional<Bench::Turn> Bench::NextTurn() {
  const std::scoped_lock lock(mutex_);
  interrupted_ = interrupted_ || Interrupted();
  if (interrupted_ || error_ || next_ == cells_.size()) return std::nullopt;
  ++working_;
  const bool over = limits_.total.SpentBy(spent_);
  return Turn{.cell = next_++, .spending = over ? Spending::kOver : Spending::kAllowed};
}

void Bench::Finish(std::size_t cell, Result<std::optional<BenchRow>> row) {
  const std::scoped_lock lock(mutex_);
  --working_;
  if (!row) return NoteError(row.error());
  if (!*row) {
    not_begun_.push_back(cell);
    return;
  }
  spent_ += (*row)->spent;
  if (on_row_) on_row_(**row);
  done_[cell] = std::move(*row);
}

void Bench::NoteError(const Error& error) {
  if (error.kind == ErrorKind::kInterrupted) {
    interrupted_ = true;
    return;
  }
  if (error_) return;
  error_ = error;
  if (working_ > 0) {
    Log(LogLevel::kWarning, error.message + "; no further run begins, " + std::to_string(working_) +
                                " at work end first");
  }
}

Result<BenchResult> Bench::Take() {
  if (error_) return std::unexpected(*error_);
  BenchResult result{.rows = {}, .not_begun = {}, .interrupted = interrupted_ || Interrupted()};
  for (std::optional<BenchRow>& row : done_) {
    if (row) result.rows.push_back(std::move(*row));
  }
  std::ranges::sort(not_begun_);
  for (const std::size_t cell : not_begun_) result.not_begun.push_back(cells_[cell]);
  return result;
}

}  // namespace

std::vector<BenchArm> ArmsOf(const BenchAxes& axes) {
  const std::vector<std::string> models =
      axes.models.empty() ? std::vector<std::string>{""} : axes.models;
  std::vector<BenchArm> arms;
  for (const std::string& strategy : axes.strategies) {
    for (const std::string& model : models) {
      const std::string with = models.size() > 1 ? " @ " + model : "";
      arms.push_back({.name = strategy + with, .strategy = strategy, .model = model});
    }
  }
  return arms;
}

std::vector<BenchCell> CellsOf(const std::vector<SuiteTask>& tasks, const BenchAxes& axes) {
  std::vector<BenchCell> cells;
  for (const SuiteTask& task : tasks) {
    for (const BenchArm& arm : ArmsOf(axes)) {
      for (int repeat = 1; repeat <= axes.repeats; ++repeat) {
        cells.push_back({.task = task,
                         .strategy = arm.strategy,
                         .model = arm.model,
                         .repeat = repeat,
                         .arm = arm.name});
      }
    }
  }
  return cells;
}

bool TotalBudget::SpentBy(const Spent& spent) const {
  return (tokens > 0 && spent.tokens() >= tokens) || (usd > 0 && spent.usd >= usd) ||
         (seconds > 0 && spent.seconds >= seconds);
}

TotalBudget TotalBudget::Share(std::size_t cells) const {
  const auto parts = static_cast<double>(std::max<std::size_t>(cells, 1));
  TotalBudget share{.tokens = 0, .usd = usd / parts, .seconds = seconds / parts};
  if (tokens > 0)
    share.tokens = std::max<std::int64_t>(tokens / static_cast<std::int64_t>(parts), 1);
  return share;
}

Result<BenchResult> RunBench(const std::vector<BenchCell>& cells, const BenchLimits& limits,
                             const RunCell& run,
                             const std::function<void(const BenchRow&)>& on_row) {
  Bench bench(cells, limits, run, on_row);
  {
    std::vector<std::jthread> others;
    const auto jobs = std::min(static_cast<std::size_t>(std::max(limits.jobs, 1)), cells.size());
    for (std::size_t i = 1; i < jobs; ++i) others.emplace_back([&bench] { bench.Work(); });
    bench.Work();
  }
  return bench.Take();
}

}  // namespace pragma
