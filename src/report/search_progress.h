// SearchProgress shows what a search is doing. On a terminal it draws one live line below the
// finished attempts. Elsewhere it writes one plain line per attempt. Everything goes to stderr.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "core/spent.h"
#include "report/terminal.h"

namespace pragma {

class SearchTree;
struct Trial;

class SearchProgress final {
 public:
  // With a label, every line shows it and there is no live line. Labels are for several searches
  // that report at the same time.
  SearchProgress(const Terminal& terminal, int attempts, std::string label = {});
  SearchProgress(const SearchProgress&) = delete;
  SearchProgress& operator=(const SearchProgress&) = delete;
  ~SearchProgress();

  void OnPhase(int attempt, std::string_view phase);
  void OnTrial(const Trial& trial, const SearchTree& tree);
  // Reports a recorded attempt that was judged anew. Nothing was spent on models.
  void OnFresh(const Trial& trial);
  // Removes the live line. Nothing is drawn after that.
  void Stop();

 private:
  void Tick(const std::stop_token& stop);
  void Draw();  // mutex_ must be held, also for the functions below
  void Erase();
  void Finished(const Trial& trial);
  [[nodiscard]] std::string LiveLine() const;
  [[nodiscard]] std::string TrialRow(const Trial& trial) const;

  Terminal terminal_;
  int attempts_;
  std::string label_;
  TimePoint start_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool stopped_ = false;
  bool drawn_ = false;
  int attempt_ = 0;
  std::string phase_;
  std::string best_;
  Spent spent_;
  std::jthread ticker_;  // last member: it uses everything above
};

}  // namespace pragma
