// Adapter: a profiler that runs as a command and is described by one TOML file
// (knowledge/adapters/). The file says how the tool is started, how its output is read, and which
// of its numbers corresponds to which of our metrics. docs/add-a-backend.md explains the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/profile.h"
#include "machine/machine.h"
#include "sandbox/jail.h"

namespace pragma {

enum class AdapterTarget : std::uint8_t { kCpu, kGpu, kNpu };
enum class OutputPlace : std::uint8_t { kStdout, kStderr, kFile };
enum class OutputFormat : std::uint8_t {
  kCsv,
  kJson,       // one JSON document
  kJsonLines,  // one JSON object a line; other lines are skipped
  kEvents,     // the "events:" and "summary:" lines of cachegrind and callgrind
};
// Which row counts, or how rows are combined into one value, when there are several launches or
// blocks.
enum class RowChoice : std::uint8_t { kFirst, kLast, kLargest, kSum, kMean, kMax, kCount };

// How to find out whether the tool is installed and permitted.
struct AdapterProbe {
  std::string program;               // searched for in `folders`, then in PATH
  std::vector<std::string> folders;  // typical installation folders
  std::string install;               // what to do when it is absent
  struct Refusal {
    std::optional<int> exit;  // exit code of this refusal; none: any
    std::string text;         // words in stdout or stderr that indicate it
    std::string verdict;      // absent, refused or failed
    std::string advice;       // what to install or allow
  };
  std::vector<Refusal> refusals;  // the first match counts
  // The text before the name of a metric that this version of the tool does not know. Such a tool
  // then measures nothing at all, so it is run again without that metric. Empty: the tool does not
  // behave so.
  std::string unknown_metric;
};

struct AdapterOutput {
  OutputPlace where = OutputPlace::kStdout;
  OutputFormat format = OutputFormat::kCsv;
  // With kFile: the suffixes of the output files. {out} is then a folder, which is searched
  // recursively, and rows of several files are joined by position. Empty: {out} is the file itself.
  std::vector<std::string> files;
  char separator = ',';
  std::string comment;               // lines that begin with it are skipped
  std::string start;                 // the header is the first line that begins with it
  std::vector<std::string> columns;  // names, for output without a header
  bool units_row = false;            // the row under the header holds units
  std::string thousands;             // separators inside numbers
  std::vector<std::string> missing;  // texts that mean "no value"
  // Long form has one row per metric. If name_column is empty the output is in wide form, with one
  // column per metric.
  std::string name_column;
  std::string value_column;
  std::string unit_column;
  std::string row_column;     // long form: rows with the same value here are one launch
  std::string kernel_column;  // the kernel's name; other kernels' rows are skipped
  std::string rows_path;      // JSON: members to the rows, "*" for each item ("a.*.b")
  RowChoice choice = RowChoice::kFirst;
  std::string largest_by;  // kLargest: the tool's metric to compare by
};

struct AdapterMetric {
  std::string tag;                      // docs/metrics.md
  std::string native;                   // the tool's name of the metric, or
  std::string formula;                  // a formula over such names in brackets (profile/formula.h)
  std::string unit;                     // unit of our value
  double factor = 1;                    // our value is the tool's value times factor
  std::map<std::string, double> units;  // factor for each unit that the output may name
  std::string source;                   // Metric::source
  std::optional<RowChoice> choice;      // overrides the choice of the output
  std::string description;
  std::string documentation;  // web address
};

struct Adapter {
  std::string name;
  std::string title;
  AdapterTarget target = AdapterTarget::kCpu;
  std::vector<std::string> command;  // with placeholders, see AdapterCall
  std::string metrics_separator = ",";
  // The number of metrics that one run of the tool can count. A tool with such a limit is run
  // repeatedly, and the rows of its runs are joined by position. 0: one run counts all.
  int metrics_per_run = 0;
  std::vector<std::string> given;  // names that the output always holds, so they are not requested
  std::map<std::string, std::string> env;
  bool portable_program = false;  // the program is built with AVX2 and without FMA
  AdapterProbe probe;
  AdapterOutput output;
  std::vector<AdapterMetric> metrics;
  std::vector<std::string> documentation;
};

// Errors are one line with file and field.
[[nodiscard]] Result<Adapter> LoadAdapter(const std::filesystem::path& path);
[[nodiscard]] Result<Adapter> ParseAdapter(std::string_view toml, const std::string& name);
// Loads all *.toml files of a folder, sorted by name. The first invalid one is the error.
[[nodiscard]] Result<std::vector<Adapter>> LoadAdapters(const std::filesystem::path& folder);

// Describes the metric in the tool's words and in ours, with the address of its documentation. The
// text is empty if the adapter does not provide the tag.
[[nodiscard]] std::string Explain(const Adapter& adapter, std::string_view tag);
// Returns the names to request from the tool for these tags (for all, if `tags` is empty): those in
// natives and formulas, without those that its output always holds.
[[nodiscard]] std::vector<std::string> NativeNames(const Adapter& adapter,
                                                   const std::vector<std::string>& tags = {});

struct AdapterMetrics {
  std::vector<Metric> metrics;
  std::vector<std::string> problems;  // what was expected but missing or unreadable
};
// Turns untrusted output into values. Never throws. `kernel` is a part of the name of the kernel
// whose rows count; empty means all kernels. `texts` has one text for each of output.files.
[[nodiscard]] AdapterMetrics ParseOutput(const Adapter& adapter,
                                         const std::vector<std::string>& texts,
                                         std::string_view kernel = {});
[[nodiscard]] AdapterMetrics ParseOutput(const Adapter& adapter, std::string_view text,
                                         std::string_view kernel = {});

// The values of the placeholders in a command.
struct AdapterCall {
  std::vector<std::string> program;  // {program}: the program and each argument separately
  std::string kernel;                // {kernel}: the kernel's name
  std::vector<std::string> natives;  // {metrics}
  std::string out;                   // {out}: a path the command may write, as the command sees it
  std::filesystem::path out_here;    // the same path as seen from our process; empty: identical
  std::vector<CacheLevel> caches;    // {l1_bytes} {l1_ways} {l1_line} and so on up to l3
};
// Returns the argument vector. If a cache is unknown, the error names it.
[[nodiscard]] Result<std::vector<std::string>> CommandLine(const Adapter& adapter,
                                                           const AdapterCall& call);

// Returns the path of the adapter's program, or nullopt if it is not installed.
[[nodiscard]] std::optional<std::filesystem::path> FindAdapterProgram(const Adapter& adapter);

// Starts a command (in a jail) and waits for it.
using AdapterRunner = std::function<Result<Jail::RunOutcome>(const std::vector<std::string>& argv)>;
struct AdapterOutcome {
  std::vector<Metric> metrics;
  ProviderNote note;
};
// Runs the tool for the metrics with these tags (for all, if `tags` is empty). This function fills
// in call.natives. An absent, refused or failed tool is a value. An error means that our own
// machinery (the jail) failed.
[[nodiscard]] Result<AdapterOutcome> RunAdapter(const Adapter& adapter, const AdapterCall& call,
                                                const AdapterRunner& run,
                                                const std::vector<std::string>& tags = {});

}  // namespace pragma
