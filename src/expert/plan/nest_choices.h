// NestChoices: what a variant and the processor decide about every nest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "expert/plan/tuning.h"

namespace pragma::expert {

// The choices that a variant leaves open for every nest.
struct NestChoices {
  std::string name;     // name of the nest, in capitals; its tunables begin with it
  bool threads = true;  // whether work is divided among threads
  std::string_view schedule = "static";
  Tuning tuning;
  std::int64_t stream_bytes = 0;  // outputs of at least this size are written with non-temporal
                                  // (streaming) stores
  // Properties of the processor.
  std::int64_t threads_count = 1;
  std::int64_t private_cache_bytes = 0;
  std::int64_t shared_cache_bytes = 0;
};

}  // namespace pragma::expert
