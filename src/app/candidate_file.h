// Loads candidates named on the command line: a .cpp, .cu or .py file, or a folder with
// candidate.json.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "core/candidate.h"

namespace pragma {

// Loads a candidate. A .cpp or .cu file is a single source whose first lines may name flags and the
// compiler (core/candidate.h). A .py file is a single solution that defines ModelNew.
//
// A folder's candidate.json is the object of core/json.h. There "files" may also be a list of names
// in that folder. It may be missing if the folder has a kernel.cpp (CUDA: a kernel.cu, Python: a
// solution.py). kUsage errors say what is wrong. `target` is the target of a .py file, because its
// text does not name one.
[[nodiscard]] Result<Candidate> LoadCandidate(const std::filesystem::path& path,
                                              Language language = Language::kCpp);
// Parses the object itself. Names in "files" are looked up in `folder`.
[[nodiscard]] Result<Candidate> CandidateFromObject(std::string_view json,
                                                    const std::filesystem::path& folder);

}  // namespace pragma
