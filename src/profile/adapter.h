// Adapter: a profiler that is a command line, described by one TOML file (knowledge/adapters/):
// how it is started, how its output is read, and which of its numbers is which of our metrics.
// docs/add-a-backend.md explains the file.
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
  kJson,       // one document
  kJsonLines,  // one object a line; other lines are passed over
  kEvents,     // the "events:" and "summary:" lines of cachegrind and callgrind
};
// Which row counts, or how rows become one value, when there are several launches or blocks.
enum class RowChoice : std::uint8_t { kFirst, kLast, kLargest, kSum, kMean, kMax, kCount };

// How to find out whether the tool is there and allowed.
struct AdapterProbe {
  std::string program;               // looked for in `folders`, then in PATH
  std::vector<std::string> folders;  // where installers put it
  std::string install;               // what to do when it is absent
  struct Refusal {
    std::optional<int> exit;  // the exit code that means it; none: any
    std::string text;         // words in stdout or stderr that mean it
    std::string verdict;      // absent, refused or failed
    std::string advice;       // what to install or allow
  };
  std::vector<Refusal> refusals;  // the first that fits
  // What stands before the name of a metric that this version of the tool does not know, which then
  // measures nothing at all: it is run again without. Empty: it does not do so.
  std::string unknown_metric;
};

struct AdapterOutput {
  OutputPlace where = OutputPlace::kStdout;
  OutputFormat format = OutputFormat::kCsv;
  // With kFile: ends of file names; {out} is a folder then, searched with its subfolders, and rows
  // of several files are joined by position. Empty: {out} is the file.
  std::vector<std::string> files;
  char separator = ',';
  std::string comment;               // lines that begin with it are passed over
  std::string start;                 // the header is the first line that begins with it
  std::vector<std::string> columns;  // names, for output without a header
  bool units_row = false;            // the row under the header holds units
  std::string thousands;             // separators inside numbers
  std::vector<std::string> missing;  // texts that stand for "no value"
  // Long form: one row a metric. Empty name_column: wide form, one column a metric.
  std::string name_column;
  std::string value_column;
  std::string unit_column;
  std::string row_column;     // long form: rows with the same value here are one launch
  std::string kernel_column;  // the kernel's name: rows of others are passed over
  std::string rows_path;      // JSON: members to the rows, "*" for each item ("a.*.b")
  RowChoice choice = RowChoice::kFirst;
  std::string largest_by;  // kLargest: the native metric
};

struct AdapterMetric {
  std::string tag;                      // docs/metrics.md
  std::string native;                   // the tool's name; or
  std::string formula;                  // over native names in brackets (profile/formula.h)
  std::string unit;                     // of our value
  double factor = 1;                    // our value is native times factor
  std::map<std::string, double> units;  // the factor by the unit that the output names
  std::string source;                   // Metric::source
  std::optional<RowChoice> choice;      // other than the output's
  std::string description;
  std::string documentation;  // an address
};

struct Adapter {
  std::string name;
  std::string title;
  AdapterTarget target = AdapterTarget::kCpu;
  std::vector<std::string> command;  // with placeholders, see AdapterCall
  std::string metrics_separator = ",";
  // Tools that count only so much at a time are run again and again; 0: once. Rows of the runs are
  // joined by position.
  int metrics_per_run = 0;
  std::vector<std::string> given;  // native names that the output always holds, not asked for
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
// All *.toml of a folder, by name; the first bad one is the error.
[[nodiscard]] Result<std::vector<Adapter>> LoadAdapters(const std::filesystem::path& folder);

// What the metric is, in the tool's words and ours, with the address of its documentation; empty
// when the adapter does not give the tag.
[[nodiscard]] std::string Explain(const Adapter& adapter, std::string_view tag);
// What is asked of the tool for these tags (all when empty): the names in natives and formulas,
// without what its output always holds.
[[nodiscard]] std::vector<std::string> NativeNames(const Adapter& adapter,
                                                   const std::vector<std::string>& tags = {});

struct AdapterMetrics {
  std::vector<Metric> metrics;
  std::vector<std::string> problems;  // what was expected and not found or not readable
};
// Foreign text in, values out; never throws. `kernel`: part of the name of the kernel whose rows
// count; empty: all. Several texts: one for each of output.files.
[[nodiscard]] AdapterMetrics ParseOutput(const Adapter& adapter,
                                         const std::vector<std::string>& texts,
                                         std::string_view kernel = {});
[[nodiscard]] AdapterMetrics ParseOutput(const Adapter& adapter, std::string_view text,
                                         std::string_view kernel = {});

// What stands for the placeholders of a command.
struct AdapterCall {
  std::vector<std::string> program;  // {program}, an argument of its own: the program's arguments
  std::string kernel;                // {kernel}: the kernel's name
  std::vector<std::string> natives;  // {metrics}
  std::string out;                   // {out}: a path the command may write, as the command sees it
  std::filesystem::path out_here;    // the same place as we see it; empty: the same path
  std::vector<CacheLevel> caches;    // {l1_bytes} {l1_ways} {l1_line} and so on to l3
};
// The argument vector. A cache that is not known: an error that names it.
[[nodiscard]] Result<std::vector<std::string>> CommandLine(const Adapter& adapter,
                                                           const AdapterCall& call);

// Where the adapter's program is, or nullopt.
[[nodiscard]] std::optional<std::filesystem::path> FindAdapterProgram(const Adapter& adapter);

// Starts a command (in a jail) and waits for it.
using AdapterRunner = std::function<Result<Jail::RunOutcome>(const std::vector<std::string>& argv)>;
struct AdapterOutcome {
  std::vector<Metric> metrics;
  ProviderNote note;
};
// Runs for the metrics with these tags (all when empty; call.natives is filled in here). Absent,
// refused and failed tools are values; an error is only our own trouble (the jail's).
[[nodiscard]] Result<AdapterOutcome> RunAdapter(const Adapter& adapter, const AdapterCall& call,
                                                const AdapterRunner& run,
                                                const std::vector<std::string>& tags = {});

}  // namespace pragma
