// layers: build
// A built object's bytes are untrusted, because a candidate's assembly shapes them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "build/audit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kCap = 1U << 20U;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const pragma::AuditVerdict verdict =
      pragma::AuditObject(bytes, {.openmp = true, .max_scratch_bytes = kCap});
  if (verdict.scratch_bytes > kCap || verdict.packed_bytes > kCap) std::abort();
  return 0;
}
