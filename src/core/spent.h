// Spent: what an attempt, or a whole run, has cost.
#pragma once

#include <cstdint>

namespace pragma {

struct Spent {
  double seconds = 0;
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  double usd = 0;
  std::int64_t tokens_cached = 0;  // of tokens_in: read from a service's cache of prompts
  double usd_saved = 0;            // what such a cache saved
  [[nodiscard]] std::int64_t tokens() const { return tokens_in + tokens_out; }
  Spent& operator+=(const Spent& other);
};

}  // namespace pragma
