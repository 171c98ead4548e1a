// ScriptBundle: joins the modules of a page into one script. A browser refuses to import a module
// from a file, so the modules cannot stay files if the page is to open from a disk.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace pragma {

// Returns a script that runs the module `entry` of the folder, after the modules that it imports.
// Modules may use two forms of the language, each at the beginning of a line:
//   import {a, b} from './other.js';     (may go on over several lines)
//   export function a                    (also async function, const)
[[nodiscard]] Result<std::string> BundleScripts(const std::filesystem::path& folder,
                                                const std::string& entry);

}  // namespace pragma
