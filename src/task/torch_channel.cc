#include "task/torch_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "base/result.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{256} << 20U;
constexpr std::size_t kMaxDescriptors = 8;

enum class Ready : std::uint8_t { kYes, kTimeout, kInterrupted };

// `interrupt` is a descriptor that ends the wait when it is readable. -1: none.
Ready WaitFor(int fd, short events, int interrupt, TimePoint deadline) {
  while (true) {
    const Seconds left = deadline - std::chrono::steady_clock::now();
    const double millis = std::clamp(left.count() * 1e3, 0.0, 1e6);
    std::array<pollfd, 2> waiters{{{fd, events, 0}, {interrupt, POLLIN, 0}}};
    const int ready = ::poll(waiters.data(), waiters.size(), static_cast<int>(millis) + 1);
    if (ready > 0 && waiters[0].revents != 0) return Ready::kYes;
    if (ready > 0) return Ready::kInterrupted;
    if (left.count() <= 0) return Ready::kTimeout;
  }
}

Result<void> MakePair(UniqueFd& ours, UniqueFd& theirs) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return FailErrno("cannot create a socket pair");
  }
  ours = UniqueFd(ends[0]);
  theirs = UniqueFd(ends[1]);
  return {};
}

ssize_t SendPart(int socket, std::string_view bytes, std::span<const int> fds) {
  iovec part{.iov_base = const_cast<char*>(bytes.data()),  // NOLINT: sendmsg does not write
             .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Result<TorchChannel> TorchChannel::Create(UniqueFd& theirs) {
  UniqueFd ours;
  TRY(MakePair(ours, theirs));
  return TorchChannel(std::move(ours));
}

bool TorchChannel::Send(std::string line, std::span<const int> fds, TimePoint deadline) {
  line.push_back('\n');
  std::string_view rest = line;
  std::span<const int> riders = fds.first(std::min(fds.size(), kMaxDescriptors));
  while (!rest.empty()) {
    if (WaitFor(socket_.get(), POLLOUT, -1, deadline) != Ready::kYes) return false;
    const ssize_t n = SendPart(socket_.get(), rest, riders);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(n));
    riders = {};
  }
  return true;
}

TorchChannel::Received TorchChannel::Receive(TimePoint deadline) {
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      Received received{Event::kLine, buffer_.substr(0, end)};
      buffer_.erase(0, end + 1);
      return received;
    }
    searched = buffer_.size();
    if (searched > kMaxLineBytes) return {Event::kTooLong, {}};
    switch (WaitFor(socket_.get(), POLLIN, InterruptFd(), deadline)) {
      case Ready::kTimeout: return {Event::kTimeout, {}};
      case Ready::kInterrupted: return {Event::kInterrupted, {}};
      case Ready::kYes: break;
    }
    std::array<char, 65536> chunk{};
    const ssize_t n = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return {Event::kClosed, {}};
    buffer_.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

Result<void> MakeCredentialPair(UniqueFd& ours, UniqueFd& theirs) {
  TRY(MakePair(ours, theirs));
  const int on = 1;
  if (::setsockopt(ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
    return FailErrno("cannot ask for credentials on a socket");
  }
  return {};
}

int ReceiveSenderPid(int socket, TimePoint deadline) {
  if (WaitFor(socket, POLLIN, InterruptFd(), deadline) != Ready::kYes) return -1;
  char byte = 0;
  iovec part{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1) return -1;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(header), sizeof(credentials));
    return credentials.pid;
  }
  return -1;
}

}  // namespace pragma
