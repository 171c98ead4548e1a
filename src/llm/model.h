// Model: the interface to a language model, one call that takes a prompt and returns a completion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pragma {

struct Message {
  std::string role;  // "system", "user", "assistant"
  std::string text;
};

struct Sampling {
  double temperature = 0.7;
  std::int64_t max_tokens = 16384;
};

struct Completion {
  std::string text;
  std::string reasoning;       // <think> blocks and separate reasoning fields; never searched for
                               // code
  std::string model;           // name that the service gives itself
  std::int64_t tokens_in = 0;  // 0 when the service does not report it; then `tokens_estimated` is
                               // set
  std::int64_t tokens_out = 0;
  std::int64_t tokens_cached = 0;   // of tokens_in: read from the service's cache of prompts
  std::int64_t tokens_written = 0;  // of tokens_in: written to that cache
  bool tokens_estimated = false;
  double usd = 0;
  double usd_saved = 0;  // what the cache of prompts saved; negative: writing it cost more
  double seconds = 0;
  bool truncated = false;      // true: the length limit ended the reply
  bool thinking_open = false;  // true: a <think> block in the text was never closed
  std::string problem;         // why there is no text to use; empty: there is text
};

// CallKey: identifies a call. It is recorded before the reply is used, and is unique in a store.
struct CallKey {
  std::string run;
  int node = 0;
  std::string role;  // "conductor", "coder", ...
  int ordinal = 0;   // 0, 1, ...; counts repeated calls of the same role for the same node
};

// Number of bytes of a reply that are read.
inline constexpr std::size_t kReplyBytes = std::size_t{4} << 20U;

class Model {
 public:
  virtual ~Model() = default;
  // Sends the messages and returns the reply. Errors: kUnavailable (gave up after retries, with the
  // service's message), kUsage (bad key, no such model), kTooLong (the model takes only shorter
  // prompts), kTimeUp (ModelOptions::deadline), kInterrupted.
  [[nodiscard]] virtual Result<Completion> Complete(const std::vector<Message>& messages,
                                                    const Sampling& sampling,
                                                    const CallKey& key) = 0;
  [[nodiscard]] virtual std::string name() const = 0;  // "openai:gpt-x"
};

struct Price {
  double usd_per_million_in = 0;
  double usd_per_million_out = 0;
  // Prices of prompt tokens that are read from, or written to, the service's cache. nullopt: the
  // price of other prompt tokens.
  std::optional<double> usd_per_million_cached;
  std::optional<double> usd_per_million_written;
};

// AskOptions: what a request for a completion asks for besides the conversation.
struct AskOptions {
  bool stream = true;                // as an event stream, so that a long reply does not time out
  bool prompt_cache = true;          // mark what later prompts repeat, where the protocol can
  std::string reasoning_effort;      // "low", "medium", "high", …; empty: the service's default
  std::int64_t thinking_tokens = 0;  // budget for thinking; 0: none is asked for
  std::int64_t max_tokens = 0;       // longest reply, with its reasoning; 0: Sampling::max_tokens
  std::optional<double> top_p;
};

struct ModelOptions {
  std::string base_url;  // for services; empty: the protocol's public default or *_BASE_URL
  Seconds timeout{600};  // until a reply is complete, or until its stream begins
  Seconds idle{300};     // longest silence in the middle of a reply
  int max_retries = 6;
  Price price;  // from pragma.toml [models."NAME"]; 0: unknown, and shown as unknown
  AskOptions ask;
  std::optional<TimePoint> deadline;  // when the run's time is up; no call lasts longer
};

// Makes a model from its name: "openai:NAME", "responses:NAME", "anthropic:NAME",
// "command:'CMD'", "handoff:DIR", "replay:FILE". Keys come only from the environment
// (OPENAI_API_KEY, ANTHROPIC_API_KEY). `clock` must outlive the model.
[[nodiscard]] Result<std::unique_ptr<Model>> MakeModel(const std::string& spec,
                                                       const ModelOptions& options, Clock& clock);

}  // namespace pragma
