// Checks of `pragma doctor`: each looks at one thing this machine may or may not have.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/paths.h"

namespace pragma {

enum class ItemState { kOk, kLimited, kMissing };

struct DoctorItem {
  std::string name;
  ItemState state = ItemState::kOk;
  std::string detail;   // what was found
  std::string remedy;   // what to install or change; empty when fine
  bool needed = false;  // CPU work does not go without it
};

// Of everything, in the order shown. Runs small programs, measures nothing, changes nothing.
[[nodiscard]] std::vector<DoctorItem> ExamineMachine(const Paths& paths,
                                                     const std::filesystem::path& home);

}  // namespace pragma
