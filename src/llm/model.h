// Model: a language model behind one call. Prompt in, completion out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  std::string reasoning;       // <think> blocks and separate reasoning fields; never code
  std::string model;           // as the service names itself
  std::int64_t tokens_in = 0;  // 0 when the service does not say; then `tokens_estimated`
  std::int64_t tokens_out = 0;
  bool tokens_estimated = false;
  double usd = 0;
  double seconds = 0;
  bool truncated = false;  // ended by the length limit
};

// Who asks: recorded before the reply is used, and unique in a store.
struct CallKey {
  std::string run;
  int node = 0;
  std::string role;  // "conductor", "coder", ...
  int ordinal = 0;   // 0, 1, ... : re-asks of the same role for the same node
};

// Of a reply, so many bytes are read.
inline constexpr std::size_t kReplyBytes = std::size_t{4} << 20U;

class Model {
 public:
  virtual ~Model() = default;
  // Errors: kUnavailable (gave up after retries, says what the service said), kUsage (bad key, no
  // such model), kInterrupted.
  [[nodiscard]] virtual Result<Completion> Complete(const std::vector<Message>& messages,
                                                    const Sampling& sampling,
                                                    const CallKey& key) = 0;
  [[nodiscard]] virtual std::string name() const = 0;  // "openai:gpt-x"
};

struct Price {
  double usd_per_million_in = 0;
  double usd_per_million_out = 0;
};

struct ModelOptions {
  std::string base_url;  // openai:, anthropic: ; empty: the protocol's public default or *_BASE_URL
  Seconds timeout{600};
  int max_retries = 6;
  Price price;  // from pragma.toml [models."NAME"]; 0: unknown, shown as such
};

// From "openai:NAME", "anthropic:NAME", "command:'CMD'", "handoff:DIR", "replay:FILE". Keys come
// only from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY). `clock` outlives the model.
[[nodiscard]] Result<std::unique_ptr<Model>> MakeModel(const std::string& spec,
                                                       const ModelOptions& options, Clock& clock);

}  // namespace pragma
