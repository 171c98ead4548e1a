// TorchChannel: pragma's end of the socket to pragma_torch. It carries JSON lines, with descriptors
// attached to the line that names them (docs/torch-protocol.md). For task/ and for the programs
// that harness/ starts.
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
  // Event: the reason why waiting for a line ended.
  enum class Event : std::uint8_t { kLine, kClosed, kTimeout, kInterrupted, kTooLong };
  struct Received {
    Event event = Event::kClosed;
    std::string line;
  };

  // Creates a connected pair. The server inherits `theirs`.
  [[nodiscard]] static Result<TorchChannel> Create(UniqueFd& theirs);

  // Sends `line`, given without its newline. Returns false when the server does not take it before
  // `deadline`, or has ended. The reply then never arrives, and Receive reports why.
  [[nodiscard]] bool Send(std::string line, std::span<const int> fds, TimePoint deadline);
  // Returns the next line. Ctrl-C (base/interrupt.h) ends the wait.
  [[nodiscard]] Received Receive(TimePoint deadline);

 private:
  explicit TorchChannel(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
  std::string buffer_;
};

// Waits for the one byte that a timing child sends. Returns the process id that the kernel attached
// to it, in pragma's pid namespace, or -1 if nothing arrived in time. `socket` must have
// SO_PASSCRED set.
[[nodiscard]] int ReceiveSenderPid(int socket, TimePoint deadline);
// Makes both ends of a socket whose receiver learns its sender's process id.
[[nodiscard]] Result<void> MakeCredentialPair(UniqueFd& ours, UniqueFd& theirs);

}  // namespace pragma
