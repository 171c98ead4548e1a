// NestChoices: what a variant leaves open for every nest, and the processor's figures beside it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pragma::expert {

// What a variant leaves open for every nest.
struct NestChoices {
  std::string name;     // of the nest, in capitals: its tunables begin with it
  bool threads = true;  // whether work is shared out
  std::string_view schedule = "static";
  std::int64_t stream_bytes = 0;  // outputs of this size and more are stored past the caches
  // Of the processor.
  std::int64_t threads_count = 1;
  std::int64_t private_cache_bytes = 0;
  std::int64_t shared_cache_bytes = 0;
};

}  // namespace pragma::expert
