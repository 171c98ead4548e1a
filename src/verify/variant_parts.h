// Makes a VariantBench from parts of the verifier. Private to verify/.
#pragma once

#include <string>

#include "build/builder.h"
#include "verify/judging.h"
#include "verify/variant_bench.h"

namespace pragma {

// All references are borrowed and must outlive the bench.
[[nodiscard]] VariantBench MakeVariantBench(const JudgeParts& parts, const Builder& builder,
                                            const std::string& kernel_header);

}  // namespace pragma
