// The GPU of this machine, asked of the driver by pragma-device.
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {
namespace {

constexpr Seconds kLimit{30};

}  // namespace

Result<Device> FindDevice(const std::string& program_dir) {
  const ProcessSpec spec{.argv = {program_dir + "/pragma-device"}, .inherit_env = true};
  const RunResult result = TRY(RunProcess(spec, {.wall = kLimit}));
  if (result.status.ok()) return ParseDevice(result.out);
  const std::string said(Trim(ToValidUtf8(result.err)));
  return Fail(ErrorKind::kUnavailable, said.empty() ? "pragma-device failed" : said);
}

}  // namespace pragma
