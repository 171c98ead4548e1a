// TorchChannel: pragma's end of the socket to pragma_torch: JSON lines, descriptors with the line
// that names them (docs/torch-protocol.md). For task/, and for what harness/ starts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace pragma {

class TorchChannel final {
 public:
  // Why waiting for a line ended.
  enum class Event : std::uint8_t { kLine, kClosed, kTimeout, kInterrupted, kTooLong };
  struct Received {
    Event event = Event::kClosed;
    std::string line;
  };

  // A connected pair; `theirs` is what the server inherits.
  [[nodiscard]] static Result<TorchChannel> Create(UniqueFd& theirs);

  // `line` without its newline. False when the server does not take it before `deadline`, or is
  // gone: the reply then never comes, and Receive says why.
  [[nodiscard]] bool Send(std::string line, std::span<const int> fds, TimePoint deadline);
  // The next line. Ctrl-C (base/interrupt.h) ends the wait.
  [[nodiscard]] Received Receive(TimePoint deadline);

 private:
  explicit TorchChannel(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
  std::string buffer_;
};

// Waits for the one byte a timing child sends, and returns the process id that the kernel attached
// to it, as seen here; -1: nothing came in time. `socket` must have SO_PASSCRED set.
[[nodiscard]] int ReceiveSenderPid(int socket, TimePoint deadline);
// Both ends of a socket whose receiver learns its sender's process id.
[[nodiscard]] Result<void> MakeCredentialPair(UniqueFd& ours, UniqueFd& theirs);

}  // namespace pragma
