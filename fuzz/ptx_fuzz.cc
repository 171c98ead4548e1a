// layers: build
// PTX is untrusted, because a candidate's inline assembly is copied into it unchanged.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "build/ptx_audit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pragma::PtxFacts facts =
      pragma::ReadPtx(std::string_view(reinterpret_cast<const char*>(data), size));
  static_cast<void>(pragma::CudaKept(facts, pragma::ElfFile{}, size));
  return 0;
}
