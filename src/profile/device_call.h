// DeviceCall: one GPU candidate as a program that a profiler can observe, with its inputs in a
// file, its jail and its command line. Private to profile/.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "profile/device_profiler.h"
#include "sandbox/jail.h"

namespace pragma {

class DeviceCall final {
 public:
  // Draws one input set. `subject` must outlive the result.
  [[nodiscard]] static Result<DeviceCall> Make(const DeviceSubject& subject);

  // `mode` is "region" or "launches", as pragma-cuda-profiler and pragma_triton/observe.py take it.
  [[nodiscard]] std::vector<std::string> Command(const std::string& mode) const;
  // Runs `argv` in the jail of the call. The system-call filters of a worker are absent, because a
  // profiler starts threads and processes and writes files below /tmp and /out. The folder of its
  // program is bound. `env` is added to the environment.
  [[nodiscard]] Result<Jail::RunOutcome> Run(
      const std::vector<std::string>& argv,
      const std::map<std::string, std::string>& env = {}) const;
  // Returns the paths of the compiled kernels inside the jail. A Triton module's exist only after a
  // run in mode "launches".
  [[nodiscard]] std::vector<std::string> Objects() const;
  // Returns the folder that holds what the run left in /out.
  [[nodiscard]] std::filesystem::path out() const { return folder_.path() / "out"; }

 private:
  DeviceCall(const DeviceSubject& subject, TempDir folder, JailSpec spec)
      : subject_(&subject), folder_(std::move(folder)), spec_(std::move(spec)) {}
  [[nodiscard]] Result<void> WriteFiles() const;

  const DeviceSubject* subject_;
  TempDir folder_;
  JailSpec spec_;  // argv: interpreter of a Triton module, else empty
};

}  // namespace pragma
