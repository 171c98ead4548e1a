#include "report/search_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/figures.h"
#include "report/run_text.h"
#include "report/terminal.h"

namespace pragma {
namespace {

constexpr std::chrono::milliseconds kTick{500};

void Write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// Nothing of pragma itself may run during a measurement, not even the redrawing of a line.
bool IsTimed(const std::string& phase) { return phase.starts_with("time"); }

std::string ShortSpeedup(const Evaluation& evaluation) {
  return evaluation.speedup_eager ? fmt::format("{:.2f}x", evaluation.speedup_eager->median) : "";
}

}  // namespace

SearchProgress::SearchProgress(const Terminal& terminal, int attempts, std::string label)
    : terminal_(terminal),
      attempts_(attempts),
      label_(label.empty() ? "" : std::move(label) + ": "),
      start_(std::chrono::steady_clock::now()) {
  if (!label_.empty()) terminal_.interactive = false;
  if (!terminal_.interactive) return;
  ticker_ = std::jthread([this](const std::stop_token& stop) { Tick(stop); });
}

SearchProgress::~SearchProgress() { Stop(); }

void SearchProgress::OnPhase(int attempt, std::string_view phase) {
  const std::scoped_lock lock(mutex_);
  attempt_ = attempt;
  phase_ = phase;
  Draw();
}

void SearchProgress::OnTrial(const Trial& trial, const SearchTree& tree) {
  const std::scoped_lock lock(mutex_);
  spent_ = {};
  for (const Trial& each : tree.trials()) spent_ += each.spent;
  if (const Trial* best = tree.best()) best_ = ShortSpeedup(best->evaluation);
  Finished(trial);
}

void SearchProgress::OnFresh(const Trial& trial) {
  const std::scoped_lock lock(mutex_);
  if (trial.best) best_ = ShortSpeedup(trial.evaluation);
  Finished(trial);
}

void SearchProgress::Finished(const Trial& trial) {
  phase_.clear();
  Erase();
  Write(terminal_.interactive
            ? TrialRow(trial) + "\n"
            : "pragma: " + label_ + TrialLine(Summarize(trial), attempts_) + "\n");
}

void SearchProgress::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    Erase();
    stopped_ = true;
  }
  ticker_.request_stop();
  if (ticker_.joinable()) ticker_.join();
}

void SearchProgress::Tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!IsTimed(phase_)) Draw();
    wake_.wait_for(lock, stop, kTick, [] { return false; });
  }
}

void SearchProgress::Draw() {
  if (!terminal_.interactive || stopped_ || phase_.empty()) return;
  Write("\r" + CutToWidth(terminal_, LiveLine(), terminal_.width - 1) + "\x1b[K");
  drawn_ = true;
}

void SearchProgress::Erase() {
  if (drawn_) Write("\r\x1b[K");
  drawn_ = false;
}

std::string SearchProgress::LiveLine() const {
  const Seconds elapsed = Since(start_);
  std::string line = fmt::format("attempt {}/{}  {:<12}", attempt_, std::max(attempts_, attempt_),
                                 SafeLine(phase_));
  line += "  best " + (best_.empty() ? "-" : best_) + "  " + FormatElapsed(elapsed.count());
  if (spent_.tokens() > 0) line += "  " + FormatCount(spent_.tokens()) + " tokens";
  if (spent_.usd > 0) line += "  " + FormatMoney(spent_.usd);
  return line;
}

std::string SearchProgress::TrialRow(const Trial& trial) const {
  const std::string status(StatusName(trial.evaluation.status));
  const std::string star = terminal_.unicode ? "★" : "*";
  const std::string speedup = FormatSpeedup(trial.evaluation.speedup_eager);
  std::string note = AgainstBest(Summarize(trial));
  if (trial.best) note = star + " best" + (note.empty() ? "" : ", " + note);
  if (!trial.evaluation.passed() && !trial.evaluation.reason.empty()) {
    note = SafeLine(SplitLines(trial.evaluation.reason).front());
  }
  const std::string head = fmt::format("{:>3}/{:<3}", trial.node, std::max(attempts_, trial.node));
  const std::size_t used = DisplayWidth(head) + 1 + 18 + 20 + 2;
  note = CutToWidth(terminal_, note, terminal_.width - std::min(terminal_.width, used + 1));
  return head + " " +
         Styled(terminal_, StatusStyle(trial.evaluation.status), fmt::format("{:<18}", status)) +
         Styled(terminal_, SpeedupStyle(trial.evaluation.speedup_eager),
                fmt::format("{:>20}", speedup)) +
         "  " + note;
}

}  // namespace pragma
