// LineSocket: sends and receives lines over a stream socket without blocking, for poll(2) loops.
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
  // `max_line` is the longest line that is accepted, in bytes.
  LineSocket(UniqueFd socket, std::size_t max_line)
      : socket_(std::move(socket)), max_line_(max_line) {}
  // Creates a connected pair of sockets. The LineSocket owns one end, `theirs` is for a child.
  [[nodiscard]] static Result<LineSocket> Pair(UniqueFd& theirs, std::size_t max_line);

  [[nodiscard]] int fd() const { return socket_.get(); }
  // Reads what has arrived, at most one buffer of it. False: the other end is closed.
  [[nodiscard]] bool Fill();
  // Returns the next complete line, without its newline, or nullopt when none has arrived.
  [[nodiscard]] std::optional<std::string> NextLine();
  // True if more bytes have arrived than a line may hold. Nothing after them can be read as lines.
  [[nodiscard]] bool too_long() const { return in_.size() > max_line_; }

  // Queues the line and a newline, and sends as much as the socket takes without blocking.
  void Send(std::string_view line);
  // Sends as much of the queue as the socket takes without blocking.
  void Flush();
  // Sends the whole queue. Blocks until the deadline at most.
  void FlushAll(TimePoint deadline);
  // Returns the number of bytes that the other end has not taken.
  [[nodiscard]] std::size_t unsent() const { return out_.size() - sent_; }

  enum class Wait { kReady, kTimeout, kInterrupted };
  // Waits until there is something to read, and sends queued bytes meanwhile. Ctrl-C ends the wait.
  [[nodiscard]] Wait WaitUntil(TimePoint deadline);

 private:
  UniqueFd socket_;
  std::size_t max_line_;
  std::string in_;
  std::size_t searched_ = 0;  // bytes of in_ that hold no newline
  std::string out_;
  std::size_t sent_ = 0;  // bytes of out_ already sent
};

}  // namespace pragma
