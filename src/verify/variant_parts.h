// Makes a VariantBench from parts of the verifier. Private to verify/.
#pragma once

#include <string>

#include "build/builder.h"
#include "verify/host_calls.h"
#include "verify/variant_bench.h"

namespace pragma {

// All references are borrowed and must outlive the bench.
[[nodiscard]] VariantBench MakeVariantBench(const HostParts& parts, const Builder& builder,
                                            const std::string& kernel_header);

}  // namespace pragma
