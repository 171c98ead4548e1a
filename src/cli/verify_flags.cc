#include "cli/verify_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "cli/settings.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "sandbox/jail.h"
#include "task/shapes.h"
#include "task/torch_server.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

Seconds DurationOr(const std::string& text, Seconds otherwise) {
  return text.empty() ? otherwise : Seconds(ParseDuration(text).value_or(otherwise.count()));
}

}  // namespace

std::string DurationComplaint(const std::string& text) {
  const Result<double> seconds = ParseDuration(text);
  return seconds ? "" : seconds.error().message;
}

void VerifyFlags::AddTo(CLI::App& command) {
  command.add_option("--mode", mode, "verdict that counts: strict (default) or official")
      ->type_name("MODE")
      ->check(CLI::IsMember({"strict", "official"}))
      ->group("Checking");
  command.add_option("--cache", cache, "state of the caches in timing: warm (default) or cold")
      ->type_name("STATE")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->group("Checking");
  command.add_option("--threads", threads, "threads of kernel and torch (default: all)")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Checking");
  command.add_option("--run-limit", run_limit, "longest a single call may take (default: 60s)")
      ->type_name("TIME")
      ->check(DurationComplaint)
      ->group("Checking");
  command
      .add_option("--task-limit", task_limit, "longest the task may take to start (default: 2m)")
      ->type_name("TIME")
      ->check(DurationComplaint)
      ->group("Checking");
  command
      .add_flag("--strict-nan", strict_nan,
                "reject a kernel that does not pass a NaN on as PyTorch does")
      ->group("Checking");
  command
      .add_flag("--unsafe-no-sandbox", unsafe_no_sandbox,
                "run candidates without protection where bubblewrap does not work")
      ->group("Checking");
}

void VerifyFlags::AddShapesTo(CLI::App& command) {
  command
      .add_option("--shapes", shapes_file,
                  "judge on further shapes as well: JSON, a list of {\"NAME\": NUMBER}")
      ->type_name("FILE")
      ->group("Checking");
}

void VerifyFlags::AddTargetTo(CLI::App& command) {
  command
      .add_option("--target", target,
                  "what runs the kernel: cpu (default), triton or cuda (the GPU)")
      ->type_name("TARGET")
      ->check(CLI::IsMember({"cpu", "triton", "cuda"}))
      ->group("Checking");
  command
      .add_option("--devices", devices,
                  "which GPUs may be used: of 0,1 the one that fewer other commands use")
      ->type_name("N,...")
      ->delimiter(',')
      ->group("Checking");
}

Result<void> VerifyFlags::ReadShapes() {
  if (shapes_file.empty()) return {};
  Result<std::string> text = ReadFile(shapes_file);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  TRY(ParseShapes(*text, shapes_file));
  shapes = std::move(*text);
  return {};
}

VerifyFlags VerifyFlags::With(const Settings& settings) const {
  VerifyFlags flags = *this;
  if (flags.mode.empty()) flags.mode = settings.mode;
  if (flags.cache.empty()) flags.cache = settings.cache;
  if (flags.threads == 0) flags.threads = settings.threads.value_or(0);
  return flags;
}

VerifyOptions VerifyFlags::options() const {
  VerifyOptions options;
  options.mode = mode == "official" ? CheckMode::kOfficial : CheckMode::kStrict;
  options.cache = cache == "cold" ? CacheState::kCold : CacheState::kWarm;
  options.run_limit = DurationOr(run_limit, options.run_limit);
  options.strict_nan = strict_nan;
  options.shapes = shapes;
  return options;
}

std::map<std::string, std::string> VerifyFlags::AsOptions() const {
  std::map<std::string, std::string> options{{"mode", mode.empty() ? "strict" : mode},
                                             {"cache", cache.empty() ? "warm" : cache},
                                             {"run_limit", run_limit}};
  if (strict_nan) options["strict_nan"] = "true";
  if (!shapes.empty()) options["shapes"] = shapes;
  return options;
}

VerifyFlags VerifyFlags::FromOptions(const std::map<std::string, std::string>& options) {
  const auto option = [&options](const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? std::string() : found->second;
  };
  VerifyFlags flags;
  flags.mode = option("mode");
  flags.cache = option("cache");
  flags.run_limit = DurationComplaint(option("run_limit")).empty() ? option("run_limit") : "";
  flags.threads = std::atoi(option("threads").c_str());
  flags.strict_nan = option("strict_nan") == "true";
  flags.shapes = option("shapes");
  return flags;
}

WorkbenchOptions VerifyFlags::workbench_options() const {
  return {.threads = threads,
          .sandbox = unsafe_no_sandbox ? SandboxMode::kUnsafeNone : SandboxMode::kRequired,
          .device = DeviceFor(runs_on()),
          .devices = devices,
          .task_limit = DurationOr(task_limit, TorchServerOptions{}.describe_limit)};
}

}  // namespace pragma
