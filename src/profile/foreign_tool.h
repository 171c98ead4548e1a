// ForeignTool: a profiler of others that a profile asks besides its own providers, by name:
// callgrind, or an adapter (knowledge/adapters/, or a file of one's own).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/adapter.h"

namespace pragma {

struct ForeignTool {
  std::string name;
  std::optional<Adapter> adapter;  // none: callgrind (profile/callgrind.h)
};

// `wish`: the name of an adapter in `folder`, or the path of an adapter's file. kUsage, in one line
// that names `besides` and what is in the folder: not known, or a file that is wrong.
[[nodiscard]] Result<Adapter> FindAdapter(const std::string& wish,
                                          const std::filesystem::path& folder,
                                          std::vector<std::string> besides = {});

// `wish`: "callgrind", the name of an adapter in `folder`, or the path of an adapter's file.
// kUsage, in one line: not known, not for processors, or a file that is wrong.
[[nodiscard]] Result<ForeignTool> FindForeignTool(const std::string& wish,
                                                  const std::filesystem::path& folder);

}  // namespace pragma
