// Doorbell: pragma's end of a control page (worker/protocol.h). It sends commands and waits for the
// answer or the death of the other process (a worker or a timing child).
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

enum class Answer : std::uint8_t { kDone, kDied, kTimeout, kInterrupted };

class Doorbell final {
 public:
  // Creates a zeroed control page with room for `offsets` layout words.
  [[nodiscard]] static Result<Doorbell> Create(std::size_t offsets = 0);

  [[nodiscard]] pragma_control& page() const {
    return *reinterpret_cast<pragma_control*>(memory_.data());
  }
  [[nodiscard]] int fd() const { return memory_.fd(); }

  struct Reply {
    Answer answer = Answer::kDone;
    Nanoseconds elapsed{0};  // from just before the ring until done was seen
    std::uint32_t result = 0;
    bool altered =
        false;  // the other process changed the request fields, which only pragma may write
  };
  // Writes the command and rings. Blocks (futex) until the other process has answered, until
  // `pidfd` is readable (the other process is dead) or until the limit has passed.
  [[nodiscard]] Reply Ring(pragma_command command, std::span<const std::uint32_t> sets, int pidfd,
                           Seconds limit);
  // Sets pragma_control::scramble to `seed` (not 0) for the next command only.
  void ScrambleNext(std::uint32_t seed) { scramble_next_ = seed; }
  // Sets pragma_control::repeat for the next command only.
  void RepeatNext(std::uint32_t times) { repeat_next_ = times; }
  // Returns the text that the other process left. The text is untrusted and is only for logs.
  [[nodiscard]] std::string message() const;

 private:
  explicit Doorbell(SharedMemory memory) : memory_(std::move(memory)) {}
  SharedMemory memory_;
  std::uint32_t scramble_next_ = 0;
  std::uint32_t repeat_next_ = 0;
};

}  // namespace pragma
