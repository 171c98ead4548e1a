// ReplayModel and ReplayClock: the replies of a recorded run, and its time. Private to search/.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "llm/model.h"

namespace pragma {

struct Recording;

// A clock that advances only on request, so that a replay sees the recorded durations.
class ReplayClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  void SleepFor(Seconds duration) override {
    now_ += std::chrono::duration_cast<TimePoint::duration>(duration);
  }

 private:
  TimePoint now_;
};

// Answers each call with the recorded reply for the same (node, role, ordinal), and with no other.
// It notes each prompt that differs from the recorded one.
class ReplayModel final : public Model {
 public:
  // `recording` must outlive this object.
  explicit ReplayModel(const Recording& recording);

  [[nodiscard]] Result<Completion> Complete(const std::vector<Message>& messages,
                                            const Sampling& sampling, const CallKey& key) override;
  // Returns the name of the model that wrote the first reply.
  [[nodiscard]] std::string name() const override;

  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  const Recording& recording_;
  std::map<std::tuple<int, std::string, int>, std::size_t> calls_;  // index into recording_.calls
  std::vector<std::string> notes_;
};

}  // namespace pragma
