// Declares the checks of `pragma doctor`. Each looks at one thing that this machine may or may not
// have.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/paths.h"

namespace pragma {

enum class ItemState { kOk, kLimited, kMissing };

struct DoctorItem {
  std::string name;
  ItemState state = ItemState::kOk;
  std::string detail;   // what was found
  std::string remedy;   // what to install or change; empty when nothing is missing
  bool needed = false;  // CPU work is impossible without it
};

// Runs all checks and returns their items in the order shown. It runs small programs, measures
// nothing and changes nothing.
[[nodiscard]] std::vector<DoctorItem> ExamineMachine(const Paths& paths,
                                                     const std::filesystem::path& home);

}  // namespace pragma
