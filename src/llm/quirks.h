// Quirks: what a service turned out not to accept. They are learnt from its refusals, one after the
// other, and kept for later calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace pragma {

struct Quirks {
  std::set<std::string, std::less<>> refused;  // members of a request that are left out
  bool max_completion_tokens = false;          // send max_completion_tokens instead of max_tokens
  bool no_system = false;                      // put the system text in front of the first request
  std::optional<bool> stream;                  // event streams: what the service insists on
  std::int64_t most_tokens = 0;                // longest reply that it allows; 0: not known

  [[nodiscard]] bool Accepts(std::string_view member) const { return !refused.contains(member); }
};

// Refusal: what a service said of a request (status 400 and the like), and that request.
struct Refusal {
  std::string_view complaint;  // of ServiceComplaint
  std::string_view body;       // of the response
  std::string_view request;    // its body
};

// Updates `quirks` if the refusal is about something that they can avoid. Returns what was learnt,
// in words; empty: nothing.
[[nodiscard]] std::string LearnQuirk(const Refusal& refusal, Quirks& quirks);

// Returns whether the service says that prompt and reply are longer than the model takes.
[[nodiscard]] bool SaysTooLong(std::string_view complaint);
// Returns the longest reply that fits beside the prompt, if the complaint says that prompt and
// reply together are too long. nullopt: the complaint does not say so, or the prompt alone is too
// long.
[[nodiscard]] std::optional<std::int64_t> RoomForReply(std::string_view complaint,
                                                       std::size_t prompt_bytes,
                                                       std::int64_t asked);

}  // namespace pragma
