// CheckedCalls: the calls of one candidate whose results are examined one by one. It starts the
// candidate's processes and hides where they run, which differs between processors (HostCalls) and
// a GPU (DeviceCalls). ValueCheck decides which calls are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "harness/timed_process.h"

namespace pragma {

// Functions that return bool return false when the candidate failed; the evaluation then says why.
class CheckedCalls {
 public:
  CheckedCalls() = default;
  CheckedCalls(const CheckedCalls&) = delete;
  CheckedCalls& operator=(const CheckedCalls&) = delete;
  virtual ~CheckedCalls() = default;

  // The candidate's processes: one that makes most of the checked calls, and one that makes few.
  enum class History : std::uint8_t { kUsed, kPristine };
  // Starts the process, loads the candidate and chooses the process. kUsed is started first.
  [[nodiscard]] virtual Result<bool> Start(History history) = 0;
  // Chooses the process that makes the calls from now on.
  virtual void Choose(History history) = 0;
  [[nodiscard]] virtual TimedProcess& process() = 0;
  // Further numbers of threads with which the candidate must be right, in words: "with 24 OpenMP
  // threads". StartWith starts a process with one of them and chooses it until the next choice.
  [[nodiscard]] virtual std::vector<std::string> OtherThreads() const { return {}; }
  [[nodiscard]] virtual Result<bool> StartWith(std::size_t /*threads*/) { return true; }
  // Called before calls that look for state, and the target time for them.
  [[nodiscard]] virtual Result<void> BeforeState() { return {}; }
  [[nodiscard]] virtual Seconds StateBudget() const = 0;

  // Makes one call, after the caller has poisoned the process's outputs. Its results must be
  // examined before the next call.
  [[nodiscard]] virtual Result<bool> Call(std::uint32_t slot) = 0;
  // Like Call, but also records the shortest time of a call and of a round trip without one, and
  // the time for the part of the comparison that is already done.
  [[nodiscard]] virtual Result<bool> MeasuredCall(std::uint32_t slot) = 0;
  // Makes one call on the memory as earlier calls left it. Only the outputs are filled again.
  [[nodiscard]] virtual Result<bool> CallOnKept(std::uint32_t slot) = 0;
  // CallOnKept in three steps, with other calls between them. Refill fills the outputs. CallMany
  // calls the slots one after the other and renews nothing. InputSets::LookAt examines what the
  // last call on the slot left.
  [[nodiscard]] virtual Result<void> Refill(std::uint32_t slot) = 0;
  [[nodiscard]] virtual Result<bool> CallMany(std::span<const std::uint32_t> slots) = 0;
  // Makes the slot's new contents visible to the candidate. Its outputs stay as they are.
  [[nodiscard]] virtual Result<void> Publish(std::uint32_t slot) = 0;

  // The candidate's own memory (data, scratch), and what calls left below the stack pointers of its
  // threads.
  enum class Kept : std::uint8_t { kOwn, kStacks };
  // Returns what that memory keeps from call to call, as far as it can be read. May be empty.
  [[nodiscard]] virtual Result<std::vector<std::byte>> ReadKept(Kept where) = 0;
  // Writes the places that were read last. False: they cannot be written.
  [[nodiscard]] virtual Result<bool> WriteKept(Kept where, std::span<const std::byte> kept) = 0;
};

}  // namespace pragma
