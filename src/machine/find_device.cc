// Finds the GPU of this machine. pragma-device asks the driver.
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {
namespace {

constexpr Seconds kLimit{30};

// Returns the first of the devices that CUDA shows this process.
std::string FirstVisible() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string_view all = visible == nullptr ? "" : visible;
  const std::string_view first = Trim(all.substr(0, all.find(',')));
  return first.empty() ? "0" : std::string(first);
}

}  // namespace

Result<Device> FindDevice(const std::string& program_dir, const std::string& number) {
  ProcessSpec spec{.argv = {program_dir + "/pragma-device"}, .inherit_env = true};
  spec.env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  if (!number.empty()) spec.env["CUDA_VISIBLE_DEVICES"] = number;
  const RunResult result = TRY(RunProcess(spec, {.wall = kLimit}));
  if (result.status.ok()) {
    Device device = TRY(ParseDevice(result.out));
    device.number = number.empty() ? FirstVisible() : number;
    return device;
  }
  const std::string said(Trim(ToValidUtf8(result.err)));
  return Fail(ErrorKind::kUnavailable, said.empty() ? "pragma-device failed" : said);
}

}  // namespace pragma
