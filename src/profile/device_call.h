// DeviceCall: one candidate for a GPU as a program that a profiler can watch: its inputs in a file,
// its jail, its command. Private to profile/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "profile/device_profiler.h"
#include "sandbox/jail.h"

namespace pragma {

class DeviceCall final {
 public:
  // Draws one input set. `subject` outlives it.
  [[nodiscard]] static Result<DeviceCall> Make(const DeviceSubject& subject);

  // `mode`: region or launches, as pragma-cuda-profiler and pragma_triton/observe.py take them.
  [[nodiscard]] std::vector<std::string> Command(const std::string& mode) const;
  // `argv` in the jail of the call. Without the filters of a worker: a profiler starts threads and
  // processes, and writes its files below /tmp and /out.
  [[nodiscard]] Result<Jail::RunOutcome> Run(const std::vector<std::string>& argv) const;
  // Its compiled kernels, as the jail sees them; a Triton module's are there after `launches`.
  [[nodiscard]] std::vector<std::string> Objects() const;
  // What it left in /out.
  [[nodiscard]] std::filesystem::path out() const { return folder_.path() / "out"; }

 private:
  DeviceCall(const DeviceSubject& subject, TempDir folder, JailSpec spec)
      : subject_(&subject), folder_(std::move(folder)), spec_(std::move(spec)) {}
  [[nodiscard]] Result<void> WriteFiles() const;

  const DeviceSubject* subject_;
  TempDir folder_;
  JailSpec spec_;  // its argv: the interpreter of a Triton module, or nothing
};

}  // namespace pragma
