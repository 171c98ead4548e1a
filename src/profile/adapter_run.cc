// Runs an adapter's command and determines its outcome.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "core/profile.h"
#include "profile/adapter.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

bool Says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// Returns true if the run matches the refusal. `texts` are those of the output files, because some
// tools write their complaints there.
bool Fits(const AdapterProbe::Refusal& refusal, const Jail::RunOutcome& run,
          const std::vector<std::string>& texts) {
  const bool exited = run.outcome.kind == Outcome::Kind::kExited;
  if (refusal.exit && !(exited && run.outcome.code == *refusal.exit)) return false;
  return refusal.text.empty() || Says(run.err, refusal.text) || Says(run.out, refusal.text) ||
         std::ranges::any_of(texts, [&](const auto& text) { return Says(text, refusal.text); });
}

// Returns the newest file below `folder` whose name has this suffix.
std::optional<fs::path> FileWithEnd(const fs::path& folder, const std::string& end) {
  std::optional<fs::path> newest;
  fs::file_time_type time;
  std::error_code code;
  for (auto entry = fs::recursive_directory_iterator(folder, code);
       !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    std::error_code stat;
    if (entry->is_symlink(stat) || !entry->is_regular_file(stat) ||
        !entry->path().filename().string().ends_with(end))
      continue;
    const auto written = entry->last_write_time(stat);
    if (!newest || written > time) newest = entry->path();
    time = std::max(time, written);
  }
  return newest;
}

// Returns the texts to parse. A missing file yields an empty text, which its parser will report.
std::vector<std::string> Texts(const Adapter& adapter, const AdapterCall& call,
                               const Jail::RunOutcome& run) {
  if (adapter.output.where == OutputPlace::kStdout) return {run.out};
  if (adapter.output.where == OutputPlace::kStderr) return {run.err};
  const fs::path out = call.out_here.empty() ? fs::path(call.out) : call.out_here;
  // The profiled program may have written there, so a symbolic link must not be followed.
  std::error_code code;
  if (fs::is_symlink(out, code)) return {""};
  if (adapter.output.files.empty()) return {ReadFile(out).value_or("")};
  std::vector<std::string> texts;
  for (const std::string& end : adapter.output.files) {
    const auto file = FileWithEnd(out, end);
    texts.push_back(file ? ReadFile(*file).value_or("") : "");
  }
  return texts;
}

// Returns the first line that mentions an error, otherwise the first line.
std::string Complaint(const std::string& text) {
  const std::vector<std::string> lines = SplitLines(ToValidUtf8(text));
  const auto spoken = [](const std::string& line) { return !Trim(line).empty(); };
  auto said = std::ranges::find_if(
      lines, [](const auto& line) { return Says(line, "rror") || Says(line, "ERROR"); });
  if (said == lines.end()) said = std::ranges::find_if(lines, spoken);
  return said == lines.end() ? "" : " (" + Shorten(*said, 200) + ")";
}

std::string Trouble(const Jail::RunOutcome& run, const std::vector<std::string>& texts) {
  if (run.timed_out) return "not done within the time";
  std::string said = Complaint(run.err);
  if (said.empty() && !texts.empty()) said = Complaint(texts.front());
  return run.outcome.Describe() + said;
}

// Returns the names that {metrics} stands for in each run.
std::vector<std::vector<std::string>> Runs(const Adapter& adapter,
                                           const std::vector<std::string>& tags) {
  const std::vector<std::string> names = NativeNames(adapter, tags);
  const auto some = static_cast<std::size_t>(adapter.metrics_per_run);
  if (some == 0 || names.size() <= some) return {names};
  std::vector<std::vector<std::string>> runs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i % some == 0) runs.emplace_back();
    runs.back().push_back(names[i]);
  }
  return runs;
}

// The three outcomes of one run of the tool: its texts, a note that ends everything, or a metric
// that the tool does not know.
struct UnknownMetric {
  std::string name;  // as far as the tool reports it
};
using OneRun = std::variant<std::vector<std::string>, ProviderNote, UnknownMetric>;

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::optional<std::string> UnknownIn(const AdapterProbe& probe, const std::string& text) {
  const std::size_t said =
      probe.unknown_metric.empty() ? std::string::npos : text.find(probe.unknown_metric);
  if (said == std::string::npos) return std::nullopt;
  const auto begin = text.begin() + static_cast<std::ptrdiff_t>(said + probe.unknown_metric.size());
  const auto end = std::find_if_not(begin, text.end(), IsOfName);
  return begin == end ? std::nullopt : std::optional(std::string(begin, end));
}

std::optional<std::string> UnknownIn(const AdapterProbe& probe, const Jail::RunOutcome& run,
                                     const std::vector<std::string>& texts) {
  std::optional<std::string> name = UnknownIn(probe, run.err);
  if (!name) name = UnknownIn(probe, run.out);
  for (const std::string& text : texts) {
    if (!name) name = UnknownIn(probe, text);
  }
  return name;
}

Result<OneRun> RunOnce(const Adapter& adapter, const AdapterCall& call, const fs::path& program,
                       const AdapterRunner& run, double& seconds) {
  auto argv = CommandLine(adapter, call);
  if (!argv) return ProviderNote{adapter.name, "skipped", argv.error().message, seconds};
  if (argv->front() == adapter.probe.program) argv->front() = program.string();
  const Jail::RunOutcome outcome = TRY(run(*argv));
  seconds += outcome.wall.count();
  std::vector<std::string> texts = Texts(adapter, call, outcome);
  if (const auto unknown = UnknownIn(adapter.probe, outcome, texts)) return UnknownMetric{*unknown};
  for (const auto& refusal : adapter.probe.refusals) {
    if (Fits(refusal, outcome, texts))
      return ProviderNote{adapter.name, refusal.verdict, refusal.advice, seconds};
  }
  if (!outcome.ok()) return ProviderNote{adapter.name, "failed", Trouble(outcome, texts), seconds};
  return texts;
}

// Runs the tool again without the metrics that it does not know, as long as each attempt removes
// some.
Result<OneRun> RunWithout(const Adapter& adapter, AdapterCall call, const fs::path& program,
                          const AdapterRunner& run, double& seconds) {
  for (;;) {
    OneRun ran = TRY(RunOnce(adapter, call, program, run, seconds));
    const auto* unknown = std::get_if<UnknownMetric>(&ran);
    if (unknown == nullptr) return ran;
    const auto dropped = std::erase_if(call.natives, [&](const std::string& native) {
      return native == unknown->name || native.starts_with(unknown->name + ".");
    });
    if (dropped == 0 || call.natives.empty()) {
      return ProviderNote{adapter.name, "failed", "it does not know " + unknown->name, seconds};
    }
  }
}

}  // namespace

Result<AdapterOutcome> RunAdapter(const Adapter& adapter, const AdapterCall& call,
                                  const AdapterRunner& run, const std::vector<std::string>& tags) {
  AdapterOutcome outcome{.metrics = {}, .note = {adapter.name, "ran", "", 0}};
  const auto program = FindAdapterProgram(adapter);
  if (!program) {
    outcome.note = {adapter.name, "absent", adapter.probe.install, 0};
    return outcome;
  }
  std::vector<std::string> texts;
  for (auto& natives : Runs(adapter, tags)) {
    AdapterCall one = call;
    one.natives = std::move(natives);
    auto ran = TRY(RunWithout(adapter, one, *program, run, outcome.note.seconds));
    if (auto* ended = std::get_if<ProviderNote>(&ran)) {
      outcome.note = std::move(*ended);
      return outcome;
    }
    std::ranges::move(std::get<std::vector<std::string>>(ran), std::back_inserter(texts));
  }
  AdapterMetrics parsed = ParseOutput(adapter, texts, call.kernel);
  outcome.metrics = std::move(parsed.metrics);
  outcome.note.detail = Join(parsed.problems, "; ");
  if (outcome.metrics.empty()) {
    outcome.note.verdict = "failed";
    outcome.note.detail = "gave none of its metrics: " + outcome.note.detail;
  }
  return outcome;
}

}  // namespace pragma
