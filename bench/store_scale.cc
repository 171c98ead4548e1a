// pragma-store-scale measures a store with very many trials: how long an append takes, how long it
// takes to open a run, and how large the file is. Filling the store bypasses its interface and uses
// transactions of many runs. An interrupted filling is continued. The measurements use the store's
// own interface, and each append is committed as in a run.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/recorded_run.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "core/candidate.h"
#include "core/json.h"
#include "core/trial.h"
#include "report/run_text.h"
#include "report/terminal.h"
#include "store/content.h"
#include "store/database.h"
#include "store/store.h"
#include "store/trial_rows.h"

namespace {

using Steady = std::chrono::steady_clock;

double sync_seconds = 0;  // NOLINT: sum over the functions below, on this one thread

}  // namespace

// SQLite calls these functions. Here they also record how long the disk took. That separates the
// store's own share of an append from the disk's share, which only a weaker guarantee of durability
// could shorten.
extern "C" int fdatasync(int fd) {
  static const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fdatasync"));
  const auto start = Steady::now();
  const int code = real(fd);
  sync_seconds += pragma::Since(start).count();
  return code;
}

extern "C" int fsync(int fd) {
  static const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"));
  const auto start = Steady::now();
  const int code = real(fd);
  sync_seconds += pragma::Since(start).count();
  return code;
}

namespace pragma {
namespace {

constexpr int kTrialsInRun = 1000;
constexpr int kRunsInTransaction = 50;  // many, so that index pages are rarely written
// Bytes of one kernel's source. Suite runs with a model had 4 to 13 KB.
constexpr std::size_t kSourceBytes = 6000;
constexpr int kMetrics = 70;
constexpr int kExamples = 257;  // number of different trials; their sources differ in any case

std::string RandomText(Rng& rng, std::size_t bytes) {
  // Uses words of source code, so that the text compresses, and grows in JSON, about as real source
  // does.
  constexpr std::array<std::string_view, 8> kWords{"for (std::int64_t i = 0; i < n; ++i) {\n",
                                                   "  acc = _mm512_fmadd_ps(a, b, acc);\n",
                                                   "#pragma omp parallel for schedule(static)\n",
                                                   "  const float v = x[i * stride + j];\n",
                                                   "out[i] = ",
                                                   "}\n",
                                                   "float ",
                                                   "  // "};
  std::string text;
  while (text.size() < bytes) {
    text += kWords.at(rng.Below(kWords.size()));
    text += fmt::format("t{} ", rng.Below(1'000'000));
  }
  return text;
}

Profile ExampleProfile(Rng& rng) {
  Profile profile;
  for (int i = 0; i < kMetrics; ++i) {
    profile.metrics.push_back({.tag = fmt::format("family.metric_number_{}", i),
                               .value = rng.Uniform() * 1e9,
                               .unit = "bytes/call",
                               .source = "exact count"});
  }
  for (int i = 0; i < 3; ++i) {
    profile.diagnosis.push_back({.bottleneck = "dram_bandwidth",
                                 .score = rng.Uniform(),
                                 .evidence = {RandomText(rng, 120), RandomText(rng, 120)},
                                 .action = RandomText(rng, 250),
                                 .line = 17});
  }
  for (int i = 0; i < 8; ++i)
    profile.hot.push_back({"kernel.cpp", 10 + i, 12.5, RandomText(rng, 60), RandomText(rng, 80)});
  return profile;
}

// Makes a trial as large as those of suite runs with a language model and profiles (12 to 14 KB of
// JSON).
Trial ExampleTrial(int node, Rng& rng) {
  Trial trial{.node = node,
              .parent = node / 2,
              .role = Role::kImprove,
              .author = "coder handoff:answers",
              .advice = Advice{.bottleneck = "dram_bandwidth",
                               .evidence = RandomText(rng, 300),
                               .change = RandomText(rng, 600)},
              .candidate = CppCandidate(RandomText(rng, kSourceBytes)),
              .profile = ExampleProfile(rng),
              .spent = {.seconds = 31.5, .tokens_in = 9000, .tokens_out = 2500, .usd = 0.05}};
  Evaluation& evaluation = trial.evaluation;
  evaluation.status = Status::kPassed;
  for (int i = 0; i < 14; ++i)
    evaluation.checks.push_back(
        {fmt::format("check_{}", i), CheckVerdict::kPass, RandomText(rng, 90)});
  evaluation.timing = Timing{.ms = {rng.Uniform(), rng.Uniform(), rng.Uniform()},
                             .samples = 600,
                             .processes = 10,
                             .method = RandomText(rng, 160)};
  evaluation.eager = evaluation.timing;
  evaluation.speedup_eager = Interval{1.5, 1.4, 1.6};
  evaluation.environment = {.cpu = "a processor", .compiler = "g++ 12", .torch = "2", .threads = 2};
  evaluation.seed = SeedToHex({rng(), rng()});
  for (const char* phase : {"build", "load", "verify", "time", "profile"})
    evaluation.phases_ms[phase] = rng.Uniform() * 1e3;
  return trial;
}

RunRecord ExampleRun(int number) {
  return {.id = fmt::format("r-20260101-{:06}", number),
          .task_name = "softmax",
          .task_json = R"({"name":"softmax"})",
          .task_path = "softmax.py",
          .strategy = "fusion",
          .settings_json = "{}",
          .state = "finished",
          .created_ms = 1'000'000'000'000 + number};
}

// Makes a trial like `like` with a source of its own, as another attempt would add it to the store.
Trial Another(const Trial& like, int node, std::uint64_t number) {
  Trial trial = like;
  trial.node = node;
  trial.parent = node / 2;
  trial.candidate->files.begin()->second += fmt::format("// {}\n", number);
  return trial;
}

Result<std::int64_t> NumberOf(Database& raw, const std::string& id) {
  Query query = TRY(raw.Prepare("SELECT number FROM run WHERE id = ?"));
  if (!TRY(query.Bind(id).Next())) return Fail("the run " + id + " is missing");
  return query.Int(0);
}

Result<void> FillRun(Database& raw, int run, const std::vector<Trial>& examples) {
  const RunRecord record = ExampleRun(run);
  const std::string task = TRY(PutBlob(raw, record.task_json));
  {
    Query query = TRY(raw.Prepare(
        "INSERT INTO run (id, task_name, task, task_path, strategy, settings_json, state,"
        " stopped, final_json, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, '', '', ?)"));
    query.Bind(record.id).Bind(record.task_name).Bind(task).Bind(record.task_path);
    query.Bind(record.strategy).Bind(record.settings_json).Bind(record.state);
    TRY(query.Bind(record.created_ms).Run());
  }
  const std::int64_t key = TRY(NumberOf(raw, record.id));
  for (int node = 1; node <= kTrialsInRun; ++node) {
    const auto number = static_cast<std::uint64_t>(run) * kTrialsInRun + node;
    const Trial trial = Another(examples[number % examples.size()], node, number);
    if (!TRY(InsertTrial(raw, key, trial))) return Fail("a trial was there already");
  }
  return {};
}

// Returns the number of filled runs. A transaction holds whole runs.
Result<int> Filled(Database& raw) {
  Query query = TRY(raw.Prepare("SELECT count(*) FROM run WHERE id LIKE 'r-20260101-%'"));
  TRY(query.Next());
  return static_cast<int>(query.Int(0));
}

Result<void> Fill(const std::filesystem::path& home, int runs, Rng& rng) {
  TRY(Store::Open(home));  // creates the tables
  const std::unique_ptr<Database> raw = TRY(Database::Open(home / "pragma.db"));
  const int filled = TRY(Filled(*raw));
  if (filled >= runs) return {};
  // These settings apply only while filling, so that the disk writes everything only once. kill -9
  // does no harm. After a power loss the filling must start from scratch.
  TRY(raw->Execute(
      "PRAGMA synchronous = OFF; PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = -1000000;"));
  std::vector<Trial> examples;
  for (int i = 0; i < kExamples; ++i) examples.push_back(ExampleTrial(1, rng));
  for (int run = filled + 1; run <= runs;) {
    Transaction transaction = TRY(Transaction::Begin(*raw));
    for (int i = 0; i < kRunsInTransaction && run <= runs; ++i, ++run)
      TRY(FillRun(*raw, run, examples));
    TRY(transaction.Commit());
    std::fprintf(stderr, "\rfilled %d of %d runs", run - 1, runs);
  }
  std::fputs("\n", stderr);
  ::sync();  // else the measured appends would wait for the filled data
  return {};
}

double Quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  return values.at(at);
}

struct Options {
  std::filesystem::path home;
  int runs = 1000;
  int appends = 2000;
  int openings = 20;
  int waiting = 20;  // number of appends that wait for the disk, one per second
};

struct Figures {
  std::vector<double> whole;  // seconds per append
  std::vector<double> own;    // seconds per append without the disk's syncs
};

// Sleeps for `pause` before each append. After a second a trial waits for the disk, as in real
// runs.
Result<Figures> MeasureAppends(Store& store, int count, std::chrono::milliseconds pause, Rng& rng) {
  RunRecord run = ExampleRun(0);
  run.id = "r-measured-" + SeedToHex(SystemSeed()).substr(0, 8);
  TRY(store.CreateRun(run));
  Figures figures;
  for (int node = 1; node <= count; ++node) {
    const Trial trial = ExampleTrial(node, rng);
    std::this_thread::sleep_for(pause);
    sync_seconds = 0;
    const auto start = Steady::now();
    TRY(store.AppendTrial(run.id, trial));
    const double whole = Since(start).count();
    figures.whole.push_back(whole);
    figures.own.push_back(whole - sync_seconds);
  }
  return figures;
}

struct Openings {
  std::vector<double> first;  // seconds; how much of the run is in the page cache is left to chance
  std::vector<double> again;
  std::vector<double> text;   // seconds to format the table
  std::vector<double> whole;  // seconds with sources and profiles, as `pragma resume` reads it
};

Result<RunOutline> Open(const std::filesystem::path& home, const std::string& id,
                        std::vector<double>& seconds) {
  const auto start = Steady::now();
  const Store store = TRY(Store::Open(home));
  RunOutline outline = TRY(LoadRunOutline(store, id));
  seconds.push_back(Since(start).count());
  if (outline.trials.size() != kTrialsInRun) return Fail("a run of another length was read");
  return outline;
}

// Opens runs with the function that `pragma show` uses.
Result<Openings> MeasureOpening(const Options& options, Rng& rng) {
  Openings openings;
  for (int i = 0; i < options.openings; ++i) {
    const auto run = 1 + rng.Below(static_cast<std::uint64_t>(options.runs));
    const std::string id = ExampleRun(static_cast<int>(run)).id;
    TRY(Open(options.home, id, openings.first));
    const RunOutline outline = TRY(Open(options.home, id, openings.again));
    auto start = Steady::now();
    if (TrialsText(Terminal{}, outline.trials).empty()) return Fail("the table is empty");
    openings.text.push_back(Since(start).count());
    start = Steady::now();
    const Store store = TRY(Store::Open(options.home));
    if (TRY(store.Trials(id)).size() != kTrialsInRun) return Fail("a trial is missing");
    openings.whole.push_back(Since(start).count());
  }
  return openings;
}

std::string Row(std::string_view name, const std::vector<double>& seconds) {
  return fmt::format("| {} | {} | {:.3f} ms | {:.3f} ms | {:.3f} ms |\n", name, seconds.size(),
                     Quantile(seconds, 0.5) * 1e3, Quantile(seconds, 0.99) * 1e3,
                     Quantile(seconds, 1) * 1e3);
}

std::string DiskRow(std::string_view name, const std::vector<double>& whole,
                    const std::vector<double>& own) {
  std::vector<double> disk;
  for (std::size_t i = 0; i < whole.size(); ++i) disk.push_back(whole[i] - own[i]);
  return Row(name, disk);
}

std::string SizeText(const Options& options, Rng& rng) {
  std::error_code ignored;
  const auto bytes =
      static_cast<double>(std::filesystem::file_size(options.home / "pragma.db", ignored));
  Trial example = ExampleTrial(1, rng);
  const std::size_t source = example.candidate->source().size();
  const std::size_t profile = ToJson(*example.profile).size();
  example.candidate.reset();
  example.profile.reset();
  const int trials = options.runs * kTrialsInRun;
  return fmt::format(
      "{} trials in runs of {}; in each some {} bytes of JSON, {} of profile and {} of a source of "
      "its own; no prompts and replies. The file has {} ({} for a trial).\n",
      trials, kTrialsInRun, ToJson(example).size(), profile, source, FormatBytes(bytes),
      FormatBytes(bytes / trials));
}

Result<std::string> Measure(const Options& options) {
  Rng rng(Seed{1, 2});
  TRY(Fill(options.home, options.runs, rng));
  Store store = TRY(Store::Open(options.home));
  Rng fresh(SystemSeed());
  using std::chrono::milliseconds;
  const Figures quick = TRY(MeasureAppends(store, options.appends, milliseconds(0), fresh));
  const Figures slow = TRY(MeasureAppends(store, options.waiting, milliseconds(1001), fresh));
  const Openings openings = TRY(MeasureOpening(options, fresh));
  std::string text = "| what | times | median | p99 | slowest |\n|---|---|---|---|---|\n";
  text += Row("append a trial, in quick succession", quick.whole);
  text += Row("of that, the store's own part", quick.own);
  text += Row("append a trial a second after the last, which waits for the disk", slow.whole);
  text += DiskRow("of that, the disk's sync", slow.whole, slow.own);
  text += Row("of that, the store's own part too", slow.own);
  text += Row("open the store and a run of 1,000 trials, as pragma show does", openings.again);
  text += Row("the same, read for the first time", openings.first);
  text += Row("make the table that pragma show prints", openings.text);
  text += Row("open the store and read the run whole, as pragma resume does", openings.whole);
  return text + "\n" + SizeText(options, fresh);
}

}  // namespace
}  // namespace pragma

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: pragma-store-scale HOME [RUNS [APPENDS [OPENINGS [WAITING]]]]\n", stderr);
    return 2;
  }
  pragma::Options options{.home = argv[1]};
  if (argc > 2) options.runs = std::atoi(argv[2]);
  if (argc > 3) options.appends = std::atoi(argv[3]);
  if (argc > 4) options.openings = std::atoi(argv[4]);
  if (argc > 5) options.waiting = std::atoi(argv[5]);
  const auto text = pragma::Measure(options);
  if (!text) {
    std::fprintf(stderr, "pragma-store-scale: %s\n", text.error().message.c_str());
    return 3;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}
