// Finds the accelerator of this machine. The probe of a backend asks the driver.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "base/toml_reader.h"
#include "core/backend.h"
#include "core/candidate.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {
namespace {

constexpr Seconds kLimit{30};

// Returns the first of the devices that the driver shows this process.
std::string FirstVisible(const Backend& backend) {
  const char* visible = backend.visible.empty() ? nullptr : std::getenv(backend.visible.c_str());
  const std::string_view all = visible == nullptr ? "" : visible;
  const std::string_view first = Trim(all.substr(0, all.find(',')));
  return first.empty() ? "0" : std::string(first);
}

}  // namespace

Result<std::vector<Backend>> LoadBackends(const std::filesystem::path& folder) {
  std::vector<Backend> backends;
  for (const std::filesystem::path& path : TRY(TomlFilesIn(folder))) {
    const std::string text = TRY(ReadFile(path));
    Backend backend = TRY(ParseBackend(text, path.string()));
    if (backend.probe.find('/') != std::string::npos)
      backend.probe = (std::filesystem::absolute(folder) / backend.probe).lexically_normal();
    backends.push_back(std::move(backend));
  }
  return backends;
}

Result<Device> FindDevice(const Backend& backend, const std::string& program_dir,
                          const std::string& number) {
  const bool own = backend.probe.find('/') == std::string::npos;
  ProcessSpec spec{.argv = {own ? program_dir + "/" + backend.probe : backend.probe},
                   .inherit_env = true};
  spec.env = backend.env;
  if (!number.empty() && !backend.visible.empty()) spec.env[backend.visible] = number;
  const RunResult result = TRY(RunProcess(spec, {.wall = kLimit}));
  if (!result.status.ok()) {
    const std::string said(Trim(ToValidUtf8(result.err)));
    return Fail(ErrorKind::kUnavailable, said.empty() ? backend.probe + " failed" : said);
  }
  Device device = TRY(ParseDevice(result.out));
  device.number = number.empty() ? FirstVisible(backend) : number;
  device.host_memory = device.host_memory || backend.memory == "host";
  device.backend = backend;
  return device;
}

Result<Device> FindDeviceFor(Language language, const std::vector<Backend>& backends,
                             const std::string& program_dir, const std::string& number) {
  std::vector<std::string> reasons;
  for (const Backend& backend : backends) {
    if (!backend.Runs(language)) continue;
    Result<Device> device = FindDevice(backend, program_dir, number);
    if (device) return device;
    reasons.push_back(backend.name + ": " + device.error().message);
  }
  return Fail(ErrorKind::kUnavailable,
              reasons.empty() ? "no backend runs this language" : Join(reasons, "; "));
}

}  // namespace pragma
