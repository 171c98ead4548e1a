#include "base/line_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "base/result.h"

namespace pragma {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

// Returns the timeout for poll(2), in milliseconds.
int MillisUntil(TimePoint deadline) {
  const Seconds left = deadline - std::chrono::steady_clock::now();
  return static_cast<int>(std::clamp(left.count() * 1e3, -1.0, 1e6)) + 1;
}

bool TryAgain() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Result<LineSocket> LineSocket::Pair(UniqueFd& theirs, std::size_t max_line) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return FailErrno("cannot create a socket pair");
  }
  theirs = UniqueFd(ends[1]);
  return LineSocket(UniqueFd(ends[0]), max_line);
}

bool LineSocket::Fill() {
  const std::size_t before = in_.size();
  in_.resize(before + kPiece);
  const ssize_t got = ::recv(socket_.get(), in_.data() + before, kPiece, MSG_DONTWAIT);
  const bool open = got > 0 || (got < 0 && TryAgain());
  in_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
  return open;
}

std::optional<std::string> LineSocket::NextLine() {
  const std::size_t end = in_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = in_.size();
    return std::nullopt;
  }
  std::string line = in_.substr(0, end);
  in_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

void LineSocket::Send(std::string_view line) {
  out_.append(line).push_back('\n');
  Flush();
}

void LineSocket::Flush() {
  while (unsent() > 0) {
    const ssize_t n =
        ::send(socket_.get(), out_.data() + sent_, unsent(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && TryAgain()) return;
    if (n < 0) break;  // the other end no longer reads; Fill reports that it is closed
    sent_ += static_cast<std::size_t>(n);
  }
  out_.clear();
  sent_ = 0;
}

void LineSocket::FlushAll(TimePoint deadline) {
  Flush();
  while (unsent() > 0) {
    pollfd waiter{.fd = fd(), .events = POLLOUT, .revents = 0};
    const int millis = MillisUntil(deadline);
    if (millis <= 0) return;
    ::poll(&waiter, 1, millis);
    Flush();
  }
}

LineSocket::Wait LineSocket::WaitUntil(TimePoint deadline) {
  while (true) {
    const int millis = MillisUntil(deadline);
    const auto wanted = static_cast<short>(unsent() > 0 ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> waiters{{{fd(), wanted, 0}, {InterruptFd(), POLLIN, 0}}};
    const int ready = ::poll(waiters.data(), waiters.size(), millis);
    if (ready > 0 && waiters[1].revents != 0) return Wait::kInterrupted;
    Flush();
    if (ready > 0 && (waiters[0].revents & ~POLLOUT) != 0) return Wait::kReady;
    if (ready == 0 && millis <= 0) return Wait::kTimeout;
  }
}

}  // namespace pragma
