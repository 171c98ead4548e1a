// LineSocket: lines over a stream socket, without waiting; for loops around poll(2).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace pragma {

class LineSocket final {
 public:
  // `max_line`: longest line that is taken, in bytes.
  LineSocket(UniqueFd socket, std::size_t max_line)
      : socket_(std::move(socket)), max_line_(max_line) {}
  // Both ends of a connected pair: a LineSocket's, and the other for a child.
  [[nodiscard]] static Result<LineSocket> Pair(UniqueFd& theirs, std::size_t max_line);

  [[nodiscard]] int fd() const { return socket_.get(); }
  // Reads what has come, at most a piece. False: the other end is closed.
  [[nodiscard]] bool Fill();
  // The next whole line that has come, without its newline.
  [[nodiscard]] std::optional<std::string> NextLine();
  // What has come is more than a line may hold: nothing sensible follows.
  [[nodiscard]] bool too_long() const { return in_.size() > max_line_; }

  // Puts the line and a newline behind what is still to be sent, and sends what goes.
  void Send(std::string_view line);
  // Sends what goes without waiting.
  void Flush();
  // Sends all of it, waiting until the deadline at most.
  void FlushAll(TimePoint deadline);
  // Bytes that the other end has not taken.
  [[nodiscard]] std::size_t unsent() const { return out_.size() - sent_; }

  enum class Wait { kReady, kTimeout, kInterrupted };
  // Until there is something to read; what is to be sent goes meanwhile. Ctrl-C ends the wait.
  [[nodiscard]] Wait WaitUntil(TimePoint deadline);

 private:
  UniqueFd socket_;
  std::size_t max_line_;
  std::string in_;
  std::size_t searched_ = 0;  // of in_: holds no newline
  std::string out_;
  std::size_t sent_ = 0;  // of out_
};

}  // namespace pragma
