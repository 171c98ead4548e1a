// Dialect: the differences between the languages that the builder compiles.
#pragma once

#include <array>
#include <string_view>

#include "core/candidate.h"

namespace pragma {

struct Dialect {
  std::string_view source;  // name of the only file: "kernel.cpp"
  std::string_view entry;   // "pragma_kernel"
  // The only symbols that the object exports, whatever attributes the source sets.
  std::array<std::string_view, 4> exports;
};

// Returns the dialect of kCpp or kCuda.
[[nodiscard]] constexpr Dialect DialectOf(Language language) {
  if (language == Language::kCuda) {
    return {.source = "kernel.cu",
            .entry = "pragma_launch",
            .exports = {"pragma_launch", "pragma_scratch_bytes"}};
  }
  return {.source = "kernel.cpp",
          .entry = "pragma_kernel",
          .exports = {"pragma_kernel", "pragma_prepare", "pragma_scratch_bytes",
                      "pragma_packed_bytes"}};
}

}  // namespace pragma
