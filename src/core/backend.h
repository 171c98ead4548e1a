// Backend: a kind of machine that runs kernels, as data (knowledge/backends/*.toml). What pragma
// must know to find such a device, to show it to a jail, to profile a kernel on it and to bound its
// speed is here, so that a new backend of a known language needs no C++ (docs/add-a-backend.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/candidate.h"

namespace pragma {

// What one unit of a device (a multiprocessor, a compute unit) can do at most in one clock. The
// figures are upper bounds: a kernel that is faster than they allow is not believed.
struct BackendPeaks {
  double flops = 0;                        // plain fp32 operations; a multiply-add counts twice
  std::map<std::string, double> products;  // TF32 products, by the beginning of the capability
  double l2_bytes = 0;                     // bytes from the second-level cache
  double copy_share = 0;                   // share of the memory's peak that a large copy reaches
};

struct Backend {
  std::string id;                          // "nvidia"
  std::string name;                        // "NVIDIA GPUs"
  std::vector<std::string> languages;      // LanguageName() of the candidates that it runs
  std::string caveat;                      // what is not so yet, for people; empty: nothing
  std::string probe;                       // program that prints the device as JSON (ParseDevice)
  std::string visible;                     // variable that shows a program one device alone
  std::map<std::string, std::string> env;  // for every program that uses the device
  std::vector<std::string>
      device_files;                      // beginnings of names in /dev, e.g. "nvidia", "dri/render"
  std::vector<std::string> folders;      // folders that its programs read
  std::vector<std::string> library_env;  // variables that hold the folder of the driver's library
  std::string memory;                    // kind of device memory: "cuda", "hip" or "host"
  std::string profiler;                  // adapter that counts (knowledge/adapters/); empty: none
  std::vector<std::string> profiler_folders;  // folders that the profiler needs in its jail
  std::string advice;                         // profiler whose own rules --full applies: "ncu"
  std::string listing;                        // lister of a kernel's code: "cuobjdump"
  std::string rules;                          // file of knowledge/diagnosis/
  // Folders of prompts/ with the sections that depend on the language, by language. A language that
  // is missing has the folder of its own name.
  std::map<std::string, std::string> prompts;
  BackendPeaks peaks;
  [[nodiscard]] std::string PromptFolder(Language language) const;
  [[nodiscard]] bool Runs(Language language) const;
};

// Parses one file. Errors are one line with file and field. A probe without '/' is one of pragma's
// own programs.
[[nodiscard]] Result<Backend> ParseBackend(std::string_view toml, const std::string& name);

}  // namespace pragma
