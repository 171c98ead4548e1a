// Paths holds the locations of the parts of an installed (or just built) pragma.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "report/html_page.h"

namespace pragma {

struct Paths {
  std::filesystem::path programs;       // pragma-init, pragma-worker, pragma-confine, ...
  std::filesystem::path data;           // python/, prompts/, strategies/, knowledge/, report/
  std::filesystem::path python;         // the interpreter that has torch
  std::filesystem::path own_knowledge;  // the user's, instead of that in `data`; empty: none
  [[nodiscard]] std::filesystem::path strategies() const { return data / "strategies"; }
  [[nodiscard]] std::filesystem::path knowledge() const {
    return own_knowledge.empty() ? data / "knowledge" : own_knowledge;
  }
  [[nodiscard]] std::filesystem::path prompts() const { return data / "prompts"; }
  [[nodiscard]] std::filesystem::path package_root() const { return data / "python"; }
  // Folders of the HTML report. Its JavaScript libraries are those installed with it, else
  // Debian's.
  [[nodiscard]] PageFolders page_folders() const;
};

// Finds the paths. Programs are in the executable's own folder, else in ../lib/pragma. Data is in
// ../share/pragma, else in the source folder that the executable was built from. Python is the
// first that is set of: `wish`, $PRAGMA_PYTHON, `configured`, the active environment ($VIRTUAL_ENV,
// $CONDA_PREFIX) if it has Torch, the source folder's .venv, python3 on PATH.
[[nodiscard]] Paths FindPaths(const std::string& wish, const std::string& configured);

// Fails with kUnavailable unless everything that is needed to run kernels is there. The error says
// what is missing and what to do.
[[nodiscard]] Result<void> CheckPaths(const Paths& paths);

}  // namespace pragma
