// SerialShare: how much of a kernel's own code runs outside of its parallel regions.
#pragma once

#include <optional>
#include <vector>

#include "build/assembly.h"

namespace pragma {

// Returns the share of the samples, which are given per block, in code that no parallel region
// reaches. Compilers move the body of a region to a function of its own, whose name says so. Code
// that both kinds reach, or none by name, counts as parallel: samples do not tell who called it.
// `library_samples` are those in the C library, where large temporaries are cleared and copied.
// nullopt: the kernel has no region or no samples.
[[nodiscard]] std::optional<double> SerialShare(const Assembly& assembly,
                                                const std::vector<double>& block_samples,
                                                double library_samples);

}  // namespace pragma
