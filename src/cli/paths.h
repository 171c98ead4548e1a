// Paths: where the parts of an installed (or just built) pragma lie.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "report/html_page.h"

namespace pragma {

struct Paths {
  std::filesystem::path programs;  // pragma-init, pragma-worker, pragma-confine, ...
  std::filesystem::path data;      // python/, prompts/, strategies/, knowledge/, report/
  std::filesystem::path python;    // the interpreter that has torch
  [[nodiscard]] std::filesystem::path strategies() const { return data / "strategies"; }
  [[nodiscard]] std::filesystem::path knowledge() const { return data / "knowledge"; }
  [[nodiscard]] std::filesystem::path prompts() const { return data / "prompts"; }
  [[nodiscard]] std::filesystem::path package_root() const { return data / "python"; }
  // Of the HTML report. Its JavaScript libraries: installed with it, else Debian's.
  [[nodiscard]] PageFolders page_folders() const;
};

// Programs: beside this executable, else ../lib/pragma. Data: ../share/pragma, else the source
// folder it was built from. Python: `wish`, $PRAGMA_PYTHON, `configured`, the source folder's
// .venv, python3 on PATH; the first that is set.
[[nodiscard]] Paths FindPaths(const std::string& wish, const std::string& configured);

// kUnavailable, saying what is missing and what to do, unless everything that runs kernels is
// there.
[[nodiscard]] Result<void> CheckPaths(const Paths& paths);

}  // namespace pragma
