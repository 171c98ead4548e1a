// Doorbell: pragma's end of a control page (worker/protocol.h): ring, and wait for done or death.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "worker/protocol.h"

namespace pragma {

enum class Answer : std::uint8_t { kDone, kDied, kTimeout };

class Doorbell final {
 public:
  // A fresh control page with room for `offsets` layout words.
  [[nodiscard]] static Result<Doorbell> Create(std::size_t offsets = 0);

  [[nodiscard]] pragma_control& page() const {
    return *reinterpret_cast<pragma_control*>(memory_.data());
  }
  [[nodiscard]] int fd() const { return memory_.fd(); }

  struct Reply {
    Answer answer = Answer::kDone;
    Nanoseconds elapsed{0};  // from just before the ring to the moment done was seen
    std::uint32_t result = 0;
    bool altered = false;  // the other side changed what was asked for, which is not its to write
  };
  // Writes the command and rings; waits blocked (futex) until done moved, `pidfd` is readable (the
  // other side is dead) or the limit has passed.
  [[nodiscard]] Reply Ring(pragma_command command, std::span<const std::uint32_t> sets, int pidfd,
                           Seconds limit);
  // A seed other than 0, for the next command alone: pragma_control::scramble.
  void ScrambleNext(std::uint32_t seed) { scramble_next_ = seed; }
  // The other side's text: foreign, for logs only.
  [[nodiscard]] std::string message() const;

 private:
  explicit Doorbell(SharedMemory memory) : memory_(std::move(memory)) {}
  SharedMemory memory_;
  std::uint32_t scramble_next_ = 0;
};

}  // namespace pragma
