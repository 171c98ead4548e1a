#include "profile/mca.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "build/toolchain.h"
#include "core/profile.h"
#include "profile/tool_runner.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

// The number of iterations to simulate. It is large, so that the first ones, which fill the queues,
// do not matter. For a long loop it is smaller, so that the simulation takes a fraction of a
// second.
constexpr std::size_t kMinIterations = 200;
constexpr std::size_t kMaxIterations = 4000;
constexpr std::size_t kSimulated = 20000;  // instructions
constexpr std::size_t kMaxChainShown = 4;
constexpr double kWorthSaying = 0.05;  // share of the cycles
constexpr const char* kFile = "loop.s";
#if defined(__aarch64__)
constexpr std::string_view kTriple = "aarch64";
#else
constexpr std::string_view kTriple = "x86_64";
#endif

// LLVM's models that it also uses for other processors, identified by the prefix of their
// resources' names.
struct ModelFamily {
  std::string_view prefix;
  std::string_view model;
  std::string_view name;  // the processor it was made for, as in -mcpu
};
constexpr ModelFamily kFamilies[] = {{"Zn4", "Zen 4", "znver4"},
                                     {"Zn3", "Zen 3", "znver3"},
                                     {"SKX", "Skylake-X", "skylake-avx512"},
                                     {"ICX", "Ice Lake server", "icelake-server"},
                                     {"SPR", "Sapphire Rapids", "sapphirerapids"}};

struct McaTool {
  std::string path;
  std::string version;  // "19.1.7"
  std::string host;     // "znver4"; "generic" or similar if unknown to LLVM
};

// Returns the text after `name` on a line of `text`.
std::string Behind(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size();
  const std::string_view rest =
      std::string_view(text).substr(begin, text.find('\n', begin) - begin);
  return Shorten(ToValidUtf8(Trim(rest)), 60);
}

McaOutcome McaEnded(std::string verdict, std::string detail) {
  McaOutcome outcome;
  outcome.note = {
      .name = "mca", .verdict = std::move(verdict), .detail = std::move(detail), .seconds = 0};
  return outcome;
}

// Returns a text such as "llvm-mca 19.1.7, -mcpu=znver5, which is LLVM's Zen 4 model: ..."
std::string ModelName(const McaTool& tool, const std::string& cpu, const McaReport& report) {
  std::string name = fmt::format("llvm-mca {}, model {}", tool.version, cpu);
  if (report.ports.empty()) return name;
  for (const ModelFamily& family : kFamilies) {
    if (!report.ports.front().name.starts_with(family.prefix) || cpu == family.name) continue;
    name += fmt::format(", for which LLVM uses its {} model", family.model);
    if (cpu == "znver5") name += ": 512-bit arithmetic is predicted at half this processor's rate";
  }
  return name;
}

std::string Chain(const McaReport& report, std::string_view cause) {
  std::vector<std::string> shown;
  for (const McaStep& step : report.chain) {
    if (!step.cause.starts_with(cause)) continue;
    if (shown.size() == kMaxChainShown) {
      shown.emplace_back("...");
      break;
    }
    shown.push_back(step.instruction + " (" + step.cause + ")");
  }
  return Join(shown, "; ");
}

std::string Ports(const McaReport& report) {
  if (report.ports.empty()) return {};
  return fmt::format("; most used: {}, {:.2f} times per iteration", report.ports.front().name,
                     report.ports.front().value);
}

// Says in one line what limits the loop.
std::string Describe(const McaReport& report) {
  const double cycles = report.cycles / report.iterations;
  std::string text = fmt::format("{:.2f} cycles per iteration, {:.1f} if only ports counted",
                                 cycles, report.block_throughput);
  if (report.register_share > kWorthSaying) {
    text += fmt::format("; {:.0f} % wait for dependent instructions: {}",
                        100 * report.register_share, Chain(report, "register"));
  }
  if (report.memory_share > kWorthSaying) {
    text += fmt::format("; {:.0f} % wait for values stored before: {}", 100 * report.memory_share,
                        Chain(report, "memory"));
  }
  if (report.resource_share > kWorthSaying && !report.pressed.empty()) {
    text += fmt::format("; {:.0f} % wait for ports, most of them for {}",
                        100 * report.resource_share, report.pressed.front().name);
  }
  return text + Ports(report);
}

std::vector<Metric> Metrics(const McaReport& report) {
  const auto metric = [](const char* tag, double value) {
    return Metric{.tag = tag, .value = value, .unit = "1", .source = "static"};
  };
  return {metric("mca_cycles_per_iteration", report.cycles / report.iterations),
          metric("mca_dependency_share", report.register_share),
          metric("mca_resource_pressure", report.resource_share),
          metric("mca_throughput_cycles", report.block_throughput)};
}

Result<McaTool> DescribeTool(const ToolRunner& run, std::string path) {
  const Jail::RunOutcome said = TRY(run({path, "--version"}, {}));
  McaTool tool{.path = std::move(path),
               .version = Behind(said.out, "LLVM version "),
               .host = Behind(said.out, "Host CPU: ")};
  if (tool.version.empty()) tool.version = "of unknown version";
  return tool;
}

std::size_t Iterations(const McaSource& source) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(source.text, '\n'));
  return std::clamp(kSimulated / std::max<std::size_t>(lines, 1), kMinIterations, kMaxIterations);
}

std::vector<std::string> Command(const McaTool& tool, const std::string& model,
                                 const McaSource& source) {
  return {tool.path,
          fmt::format("-mtriple={}", kTriple),
          "-mcpu=" + model,
          fmt::format("-iterations={}", Iterations(source)),
          "-bottleneck-analysis",
          kFile};
}

McaOutcome NoModel(const McaTool& tool, const std::string& what) {
  return McaEnded("skipped", "llvm-mca " + tool.version + " has no model of " + what +
                                 " (install a newer package llvm)");
}

bool IsUnknown(const std::string& host) {
  return host.empty() || host == "generic" || host == "(unknown)" || host.starts_with("x86-64");
}

}  // namespace

Result<McaOutcome> RunMca(const ToolRunner& run, const LoopBody& loop, const std::string& cpu,
                          const std::vector<std::string>& folders) {
  const TimePoint begin = std::chrono::steady_clock::now();
  const std::string path = FindProgram("llvm-mca", folders);
  if (path.empty())
    return McaEnded("absent", "llvm-mca is not installed (package llvm-19 or newer)");
  const McaSource source = PrepareLoop(loop);
  if (!source.refusal.empty()) return McaEnded("skipped", source.refusal);
  const McaTool tool = TRY(DescribeTool(run, path));
  const std::string model = cpu == "native" ? tool.host : cpu;
  if (IsUnknown(model)) return NoModel(tool, "this processor");
  const Jail::RunOutcome said = TRY(run(Command(tool, model, source), {{kFile, source.text}}));
  if (said.err.find("is not a recognized processor") != std::string::npos)
    return NoModel(tool, model);
  std::optional<McaReport> report = ReadMca(said.out);
  if (!said.ok() || !report)
    return McaEnded("failed", "llvm-mca " + tool.version + ": " + ToolComplaint(said));
  McaOutcome outcome = McaEnded("ran", ModelName(tool, model, *report));
  outcome.metrics = Metrics(*report);
  outcome.text = Describe(*report);
  outcome.report = std::move(*report);
  outcome.note.seconds = Since(begin).count();
  return outcome;
}

}  // namespace pragma
