// Candidates on the command line: a .cpp, .cu or .py file, or a folder with candidate.json.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "core/candidate.h"

namespace pragma {

// A .cpp or .cu file is one source whose first lines may name flags and compiler
// (core/candidate.h), a .py file one solution that defines ModelNew. A folder's candidate.json is
// the object of core/json.h, where "files" may also be a list of names in that folder, and may be
// missing when it has a kernel.cpp (CUDA: a kernel.cu, Python: a solution.py). kUsage errors say
// what is wrong. `target`: what a .py file is for, which its text does not say.
[[nodiscard]] Result<Candidate> LoadCandidate(const std::filesystem::path& path,
                                              Target target = Target::kCpu);
// The object itself; names in "files" are looked up in `folder`.
[[nodiscard]] Result<Candidate> CandidateFromObject(std::string_view json,
                                                    const std::filesystem::path& folder);

}  // namespace pragma
