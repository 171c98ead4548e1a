// ForeignTool: an external profiler that a profile runs in addition to its own providers, selected
// by name: callgrind, or an adapter (from knowledge/adapters/ or the user's own file).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/candidate.h"
#include "profile/adapter.h"

namespace pragma {

struct ForeignTool {
  std::string name;
  std::optional<Adapter> adapter;  // none: callgrind (profile/callgrind.h)
};

// `wish` is the name of an adapter in `folder`, or the path of an adapter file. For an unknown name
// or an invalid file the error is kUsage, in one line that lists `besides` and the adapters in the
// folder.
[[nodiscard]] Result<Adapter> FindAdapter(const std::string& wish,
                                          const std::filesystem::path& folder,
                                          std::vector<std::string> besides = {});

// `wish` is "callgrind", the name of an adapter in `folder`, or the path of an adapter file. The
// error is kUsage, in one line: the tool is unknown, it cannot observe kernels in that language, or
// its file is invalid.
[[nodiscard]] Result<ForeignTool> FindForeignTool(const std::string& wish,
                                                  const std::filesystem::path& folder,
                                                  Language language);

}  // namespace pragma
