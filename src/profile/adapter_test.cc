#include "profile/adapter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "machine/machine.h"
#include "profile/formula.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kAdapters = PRAGMA_SOURCE_DIR "/knowledge/adapters";

Adapter Shipped(const std::string& name) {
  auto adapter = LoadAdapter(kAdapters + "/" + name + ".toml");
  EXPECT_TRUE(adapter) << adapter.error().message;
  return adapter.value_or(Adapter{});
}

std::vector<Adapter> AllShipped() {
  auto adapters = LoadAdapters(kAdapters);
  EXPECT_TRUE(adapters) << adapters.error().message;
  return adapters.value_or(std::vector<Adapter>{});
}

std::string Recorded(const std::string& name) {
  return ReadFile(std::string(PRAGMA_SOURCE_DIR "/tests/recorded/") + name).value_or("");
}

double Value(const std::vector<Metric>& metrics, const std::string& tag) {
  for (const Metric& metric : metrics) {
    if (metric.tag == tag) return metric.value;
  }
  return std::nan("");
}

// Returns a small adapter with the given output section.
std::string Toml(const std::string& output, const std::string& metric) {
  return R"(name = "toy"
title = "Toy"
target = "cpu"
documentation = ["https://example.org/toy"]
command = ["toy", "{program}"]
[probe]
program = "toy"
install = "install toy"
)" + ("[output]\n" + output + "\n" + metric);
}

std::string MetricToml(const std::string& lines) {
  return "[[metric]]\nunit = \"1\"\nsource = \"measured\"\ndescription = \"d\"\n"
         "documentation = \"https://example.org\"\n" +
         lines + "\n";
}

Adapter Toy(const std::string& output, const std::string& metric) {
  auto adapter = ParseAdapter(Toml(output, MetricToml(metric)), "toy.toml");
  EXPECT_TRUE(adapter) << adapter.error().message;
  return adapter.value_or(Adapter{});
}

std::string ErrorOf(const std::string& toml) {
  const auto adapter = ParseAdapter(toml, "toy.toml");
  return adapter ? "" : adapter.error().message;
}

TEST(FormulaTest, ComputesOverBracketedNames) {
  const auto value_of = [](const std::string& name) -> std::optional<double> {
    if (name == "a.sum") return 6;
    if (name == "b") return 2;
    return std::nullopt;
  };
  EXPECT_EQ(Evaluate("[a.sum] / [b] + 1", value_of), 4);
  EXPECT_EQ(Evaluate("[b] > 0 ? [a.sum] : 0", value_of), 6);
  EXPECT_EQ(Evaluate("[a.sum] / [c]", value_of), std::nullopt);
  EXPECT_EQ(Evaluate("[a.sum] / ([b] - 2)", value_of), std::nullopt);
  EXPECT_THAT(*FormulaNames("[x] + [y] * [x]"), ElementsAre("x", "y"));
  for (const char* bad : {"", "[a", "a]", "[]", "[a] +", "nonsense([a])", "[a] = 3 = 4", "1 2"})
    EXPECT_FALSE(FormulaNames(bad)) << bad;
}

TEST(AdapterFileTest, EveryShippedAdapterLoads) {
  std::vector<std::string> names;
  for (const Adapter& adapter : AllShipped()) names.push_back(adapter.name);
  EXPECT_THAT(names, ElementsAre("cachegrind", "msprof", "ncu", "perf-stat", "rocprofv3"));
}

TEST(AdapterFileTest, EveryTagOfAShippedAdapterIsDocumented) {
  const std::string documented = ReadFile(PRAGMA_SOURCE_DIR "/docs/metrics.md").value();
  for (const Adapter& adapter : AllShipped()) {
    for (const AdapterMetric& metric : adapter.metrics)
      EXPECT_THAT(documented, HasSubstr("`" + metric.tag + "`")) << adapter.name;
  }
}

TEST(AdapterFileTest, ABadFileIsOneLineWithFileAndField) {
  const std::string metric = MetricToml("tag = \"loads\"\nnative = \"x\"");
  EXPECT_EQ(ErrorOf(Toml("", metric)), "");
  EXPECT_EQ(ErrorOf(Toml("where = \"nowhere\"", metric)),
            "toy.toml: output.where is \"nowhere\"; known are stdout, stderr, file");
  EXPECT_EQ(ErrorOf(Toml("seperator = \";\"", metric)),
            "toy.toml: output.seperator is not known; did you mean \"separator\"?");
  EXPECT_EQ(ErrorOf(Toml("", MetricToml("native = \"x\""))), "toy.toml: metric[0].tag is missing");
  EXPECT_THAT(ErrorOf(Toml("", MetricToml("tag = \"a\"\nformula = \"[x\""))),
              StartsWith("toy.toml: metric[0].formula cannot be read"));
  EXPECT_THAT(ErrorOf(Toml("", metric + metric)), HasSubstr("metric[1].tag loads occurs twice"));
  EXPECT_THAT(ErrorOf(Toml("units_row = 3", metric)), HasSubstr("output.units_row must be true"));
  EXPECT_THAT(ErrorOf(Toml("where = \"file\"", metric)), HasSubstr("command must hold {out}"));
  EXPECT_THAT(ErrorOf(Toml("rows = \"largest\"", metric)), HasSubstr("largest_by is missing"));
  EXPECT_THAT(ErrorOf("name = "), StartsWith("toy.toml:1: "));
  EXPECT_THAT(ErrorOf(""), StartsWith("toy.toml: name is missing"));
  EXPECT_THAT(LoadAdapter("/nonexistent.toml").error().message, HasSubstr("/nonexistent.toml"));
}

TEST(AdapterFileTest, BadCommandsAreTold) {
  const auto with = [](const std::string& command) {
    std::string toml = Toml("", MetricToml("tag = \"loads\"\nnative = \"x\""));
    const std::string old = R"(command = ["toy", "{program}"])";
    toml.replace(toml.find(old), old.size(), "command = " + command);
    return ErrorOf(toml);
  };
  EXPECT_THAT(with("[]"), HasSubstr("command is empty"));
  EXPECT_THAT(with(R"(["toy"])"), HasSubstr("must hold {program} once"));
  EXPECT_THAT(with(R"(["toy", "--x={program}"])"), HasSubstr("must be an argument of its own"));
  EXPECT_THAT(with(R"(["toy", "{program}", "{l4_ways}"])"),
              HasSubstr("{l4_ways} is not a placeholder"));
  EXPECT_THAT(with(R"(["toy", "{program}", "{out"])"), HasSubstr("without a }"));
}

TEST(AdapterTest, ExplainNamesTheNativeMetricAndItsDocumentation) {
  const std::string text = Explain(Shipped("ncu"), "gpu_waves");
  EXPECT_THAT(text, HasSubstr("launch__waves_per_multiprocessor"));
  EXPECT_THAT(text, HasSubstr("https://docs.nvidia.com"));
  EXPECT_THAT(Explain(Shipped("ncu"), "nothing"), IsEmpty());
}

TEST(AdapterTest, TheCommandLineHasItsPlaceholdersFilled) {
  const AdapterCall call{.program = {"/bin/app", "a b"},
                         .kernel = "pragma_kernel",
                         .natives = {},
                         .out = "/out/file",
                         .out_here = {},
                         .caches = {{.level = 1, .bytes = 32768, .ways = 8, .line_bytes = 64},
                                    {.level = 2, .bytes = 1048576, .ways = 16, .line_bytes = 64}}};
  const auto argv = CommandLine(Shipped("cachegrind"), call);
  ASSERT_TRUE(argv);
  EXPECT_THAT(*argv, testing::Contains("--D1=32768,8,64"));
  EXPECT_THAT(*argv, testing::Contains("--LL=1048576,16,64"));
  EXPECT_THAT(*argv, testing::Contains("--toggle-collect=pragma_kernel"));
  EXPECT_EQ(argv->back(), "a b");
  EXPECT_EQ((*argv)[argv->size() - 2], "/bin/app");
  AdapterCall without = call;
  without.caches.pop_back();
  EXPECT_THAT(CommandLine(Shipped("cachegrind"), without).error().message, HasSubstr("l2_bytes"));
}

TEST(AdapterParseTest, NcuAskedByNameGivesEveryMetric) {
  const AdapterMetrics parsed =
      ParseOutput(Shipped("ncu"), Recorded("ncu/diagnosis/launch_bound.slow.csv"));
  EXPECT_THAT(parsed.problems, IsEmpty());
  EXPECT_EQ(parsed.metrics.size(), Shipped("ncu").metrics.size());
  EXPECT_EQ(Value(parsed.metrics, "gpu_kernels"), 24);
}

TEST(AdapterParseTest, NcuFullSetLacksOnlyCountsOfSingleInstructions) {
  const AdapterMetrics parsed = ParseOutput(Shipped("ncu"), Recorded("ncu/raw_full.csv"));
  EXPECT_THAT(parsed.problems, ElementsAre(HasSubstr("op_ffma_pred_on.sum")));
  EXPECT_EQ(parsed.metrics.size() + 4, Shipped("ncu").metrics.size());
  const auto& m = parsed.metrics;
  EXPECT_DOUBLE_EQ(Value(m, "gpu_kernel_time"), 63.424);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_dram_bytes"), 134242816.0 + 108211200.0);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_sectors_per_request"), 4194304.0 / 262144.0);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_bank_conflicts"), 2597.0 / 398052.0);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_stall_long_scoreboard"), 6.85);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_theoretical_occupancy"), 31.25);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_limit_registers"), 5);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_shared_memory_per_block"), 16);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_multiprocessors"), 132);
}

TEST(AdapterParseTest, NcuTakesTheLongestLaunchAndSumsTimes) {
  const Adapter ncu = Shipped("ncu");
  const AdapterMetrics all = ParseOutput(ncu, Recorded("ncu/raw_default.csv"));
  EXPECT_DOUBLE_EQ(Value(all.metrics, "gpu_kernel_time"), (63936 + 65248 + 2681152) / 1000.0);
  EXPECT_DOUBLE_EQ(Value(all.metrics, "gpu_sm_throughput"), 87.29);
  const AdapterMetrics softmax = ParseOutput(ncu, Recorded("ncu/raw_default.csv"), "softmax_k");
  EXPECT_DOUBLE_EQ(Value(softmax.metrics, "gpu_kernel_time"), (63936 + 65248) / 1000.0);
  EXPECT_DOUBLE_EQ(Value(softmax.metrics, "gpu_sm_throughput"), 22.72);
  // Metrics that are missing from the default sections are reported, not guessed.
  EXPECT_THAT(softmax.problems, ElementsAre(StartsWith("not in the output: ")));
  EXPECT_TRUE(std::isnan(Value(softmax.metrics, "gpu_stall_barrier")));
}

TEST(AdapterParseTest, NcuAsTheAdapterRunsIt) {
  const AdapterMetrics parsed = ParseOutput(Shipped("ncu"), Recorded("ncu/log_file.csv"));
  EXPECT_DOUBLE_EQ(Value(parsed.metrics, "gpu_kernel_time"), (56992 + 56576) / 1000.0);
  EXPECT_DOUBLE_EQ(Value(parsed.metrics, "gpu_achieved_occupancy"), 83.66);
  EXPECT_DOUBLE_EQ(Value(parsed.metrics, "gpu_sectors_per_request"), 4);
  EXPECT_DOUBLE_EQ(Value(parsed.metrics, "gpu_shared_memory_per_block"), 1024);
}

TEST(AdapterParseTest, AUnitThatIsNotKnownIsAProblemAndNoValue) {
  std::string text = Recorded("ncu/raw_full.csv");
  text.replace(text.find("\"ns\""), 4, "\"parsec\"");
  const AdapterMetrics parsed = ParseOutput(Shipped("ncu"), text);
  EXPECT_TRUE(std::isnan(Value(parsed.metrics, "gpu_kernel_time")));
  EXPECT_THAT(parsed.problems, testing::Contains(HasSubstr("gpu__time_duration.sum in parsec")));
  text.replace(text.find("\"parsec\""), 8, "\"ms\"");
  EXPECT_DOUBLE_EQ(Value(ParseOutput(Shipped("ncu"), text).metrics, "gpu_kernel_time"), 63424000);
}

TEST(AdapterParseTest, PerfStatSaysWhatIsNotSupported) {
  const AdapterMetrics parsed = ParseOutput(Shipped("perf-stat"), Recorded("perf/stat.jsonl"));
  EXPECT_GT(Value(parsed.metrics, "program_cpu_ms"), 0);
  EXPECT_GT(Value(parsed.metrics, "program_page_faults"), 0);
  EXPECT_TRUE(std::isnan(Value(parsed.metrics, "program_ipc")));
  EXPECT_THAT(parsed.problems, testing::Contains(HasSubstr("instructions:u: <not supported>")));
}

TEST(AdapterParseTest, PerfStatComputesRatiosFromCounters) {
  const std::string text =
      "noise {\n"
      R"({"counter-value" : "3000.0", "unit" : "", "event" : "instructions:u", "new-key" : [1]})"
      "\n"
      R"({"counter-value" : "1000.0", "unit" : "", "event" : "cycles:u"})";
  const AdapterMetrics parsed = ParseOutput(Shipped("perf-stat"), text);
  EXPECT_DOUBLE_EQ(Value(parsed.metrics, "program_instructions"), 3000);
  EXPECT_DOUBLE_EQ(Value(parsed.metrics, "program_ipc"), 3);
}

TEST(AdapterParseTest, EventsWithTrailingZerosLeftOut) {
  const std::string text =
      "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n"
      "summary: 1835015 262145 0 0 16386 0 0 66 0 262145 10\n";
  const AdapterMetrics parsed = ParseOutput(Shipped("cachegrind"), text);
  EXPECT_THAT(parsed.problems, IsEmpty());
  EXPECT_EQ(Value(parsed.metrics, "instructions"), 1835015);
  EXPECT_EQ(Value(parsed.metrics, "l1_misses"), 16386);
  EXPECT_DOUBLE_EQ(Value(parsed.metrics, "l2_mpki"), 66000.0 / 1835015.0);
  EXPECT_THAT(ParseOutput(Shipped("cachegrind"), "events: Ir\n").problems,
              testing::Contains(HasSubstr("no events: and summary:")));
}

TEST(AdapterParseTest, RocprofJoinsItsRunsAndLeavesOtherKernelsOut) {
  const Adapter adapter = Shipped("rocprofv3");
  std::vector<std::string> texts;
  for (const std::string& counter : NativeNames(adapter))
    texts.push_back(Recorded("rocprofv3/" + counter + ".csv"));
  ASSERT_EQ(texts.size(), 8U);
  const AdapterMetrics parsed = ParseOutput(adapter, texts, "softmax_kernel");
  EXPECT_THAT(parsed.problems, IsEmpty());
  const auto& m = parsed.metrics;
  EXPECT_DOUBLE_EQ(Value(m, "gpu_kernel_time"), 34 + 36);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_achieved_occupancy"), 60);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_l2_hit_rate"), 75);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_dram_bytes"), 2 * 1024.0 * (4096 + 2048));
  EXPECT_DOUBLE_EQ(Value(m, "gpu_threads_per_instruction"), 48);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_grid"), 4096);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_registers_per_thread"), 24);
}

TEST(AdapterParseTest, MsprofTakesMeansOverTheCoresThatHaveAValue) {
  const Adapter adapter = Shipped("msprof");
  std::vector<std::string> texts;
  for (const std::string& file : adapter.output.files) texts.push_back(Recorded("msprof/" + file));
  const AdapterMetrics parsed = ParseOutput(adapter, texts, "softmax_custom");
  EXPECT_THAT(parsed.problems, IsEmpty());
  const auto& m = parsed.metrics;
  EXPECT_DOUBLE_EQ(Value(m, "gpu_kernel_time"), 41.5);
  EXPECT_DOUBLE_EQ(Value(m, "npu_vector_share"), 30);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_tensor_active"), 25);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_l2_hit_rate"), 50);
  EXPECT_DOUBLE_EQ(Value(m, "gpu_dram_bytes"), 1024.0 * (512 + 256 + 512 + 256));
  EXPECT_DOUBLE_EQ(Value(m, "gpu_bank_conflicts"), 0.1);
}

TEST(AdapterParseTest, CsvWithoutAHeaderInLongForm) {
  const Adapter adapter =
      Toy("columns = [\"value\", \"unit\", \"event\"]\nname_column = \"event\"\n"
          "value_column = \"value\"\nmissing = [\"<not supported>\"]",
          "tag = \"page_faults\"\nnative = \"page-faults:u\"");
  const AdapterMetrics parsed = ParseOutput(adapter, "# started\n\n315,,page-faults:u,9,100.00\n");
  EXPECT_EQ(Value(parsed.metrics, "page_faults"), 315);
  EXPECT_THAT(ParseOutput(adapter, "<not supported>,,page-faults:u,0\n").problems,
              testing::Contains(HasSubstr("page-faults:u: <not supported>")));
}

TEST(AdapterParseTest, RowsOfNestedJson) {
  const Adapter adapter =
      Toy("format = \"json\"\nrows_path = \"runs.*.kernels.*\"\nrows = \"sum\"\n"
          "kernel_column = \"info.name\"",
          "tag = \"loads\"\nnative = \"counts.loads\"");
  const std::string text =
      R"({"runs": [{"kernels": [{"info": {"name": "k"}, "counts": {"loads": 3}},)"
      R"({"info": {"name": "other"}, "counts": {"loads": 50}}]},)"
      R"({"kernels": {"x": {"info": {"name": "k"}, "counts": {"loads": "4"}}}}, 7]})";
  EXPECT_EQ(Value(ParseOutput(adapter, text, "k").metrics, "loads"), 7);
  EXPECT_EQ(Value(ParseOutput(adapter, text).metrics, "loads"), 57);
}

TEST(AdapterParseTest, GarbageGivesProblemsAndNoMetrics) {
  const std::string header = "\"ID\",\"Kernel Name\",\"launch__grid_size\"\n";
  for (const std::string& text :
       {std::string(), std::string("\0\xff\"\",,\n{[", 9), header, header + "\"\",\"\n\"1\",\"k\"",
        std::string(10000, '['), std::string("summary: nan inf\nevents: Ir Dr")}) {
    for (const Adapter& adapter : AllShipped()) {
      const AdapterMetrics parsed = ParseOutput(adapter, text);
      EXPECT_THAT(parsed.metrics, IsEmpty()) << adapter.name;
      EXPECT_THAT(parsed.problems, testing::Not(IsEmpty())) << adapter.name;
    }
  }
}

TEST(AdapterParseTest, AQuoteInALineOfTheProgramSwallowsNothing) {
  const Adapter adapter = Toy("start = \"kernel\"", "tag = \"loads\"\nnative = \"loads\"");
  EXPECT_EQ(Value(ParseOutput(adapter, "say \"hi\nkernel,loads\nit's \"\nk,5\n").metrics, "loads"),
            5);
}

// Runs without a jail, because the tools started here are trusted.
Result<Jail::RunOutcome> RunHere(const std::vector<std::string>& argv) {
  const RunResult run = TRY(RunProcess({.argv = argv, .inherit_env = true}, {.wall = Seconds{60}}));
  Jail::RunOutcome outcome;
  outcome.outcome.kind = run.status.signalled ? Outcome::Kind::kSignalled : Outcome::Kind::kExited;
  outcome.outcome.code = run.status.code;
  outcome.timed_out = run.timed_out;
  outcome.out = run.out;
  outcome.err = run.err;
  outcome.wall = run.wall;
  return outcome;
}

TEST(AdapterRunTest, AMissingToolIsAbsentWithWhatToInstall) {
  const Adapter adapter = Toy("", "tag = \"loads\"\nnative = \"x\"");
  const auto outcome = RunAdapter(adapter, {.program = {"true"}}, RunHere);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->note.verdict, "absent");
  EXPECT_EQ(outcome->note.detail, "install toy");
  EXPECT_THAT(outcome->metrics, IsEmpty());
}

// Returns an adapter whose tool is the shell.
Adapter Shell(const std::string& script, const std::string& refusal = {}) {
  std::string toml = Toml("name_column = \"n\"\nvalue_column = \"v\"",
                          MetricToml("tag = \"loads\"\nnative = \"loads\""));
  const auto change = [&](const std::string& from, const std::string& to) {
    toml.replace(toml.find(from), from.size(), to);
  };
  change(R"(["toy", "{program}"])",
         fmt::format("[\"sh\", \"-c\", '''{}''', \"{{program}}\"]", script));
  change("program = \"toy\"", "program = \"sh\"");
  if (!refusal.empty()) change("[output]", "[[probe.refusal]]\n" + refusal + "\n[output]");
  auto adapter = ParseAdapter(toml, "shell.toml");
  EXPECT_TRUE(adapter) << adapter.error().message;
  return adapter.value_or(Adapter{});
}

TEST(AdapterRunTest, WhatBecameOfTheToolIsTold) {
  const AdapterCall call{.program = {"x"}};
  auto outcome = RunAdapter(Shell("echo n,v; echo loads,12"), call, RunHere).value();
  EXPECT_EQ(outcome.note.verdict, "ran");
  EXPECT_EQ(Value(outcome.metrics, "loads"), 12);
  outcome = RunAdapter(Shell("echo sorry >&2; exit 3"), call, RunHere).value();
  EXPECT_EQ(outcome.note.verdict, "failed");
  EXPECT_THAT(outcome.note.detail, HasSubstr("sorry"));
  outcome = RunAdapter(Shell("echo n,v; echo other,1"), call, RunHere).value();
  EXPECT_EQ(outcome.note.verdict, "failed");
  EXPECT_THAT(outcome.note.detail, HasSubstr("not in the output: loads"));
}

TEST(AdapterRunTest, ARefusalIsToldFromAFailureByCodeAndWords) {
  const std::string refusal = "exit = 9\ntext = \"not allowed\"\nadvice = \"allow it\"";
  const AdapterCall call{.program = {"x"}};
  auto outcome = RunAdapter(Shell("echo not allowed >&2; exit 9", refusal), call, RunHere).value();
  EXPECT_EQ(outcome.note.verdict, "refused");
  EXPECT_EQ(outcome.note.detail, "allow it");
  outcome = RunAdapter(Shell("echo not allowed >&2; exit 8", refusal), call, RunHere).value();
  EXPECT_EQ(outcome.note.verdict, "failed");
  outcome = RunAdapter(Shell("echo else >&2; exit 9", refusal), call, RunHere).value();
  EXPECT_EQ(outcome.note.verdict, "failed");
}

TEST(AdapterRunTest, NcuComplainsInItsLogFile) {
  Adapter ncu = Shipped("ncu");
  ncu.probe.program = "true";
  const TempDir folder = TempDir::Create().value();
  const AdapterCall call{.program = {"x"}, .kernel = "k", .out = folder.path() / "out"};
  const auto run = [&](const std::string& recorded, int code) {
    EXPECT_TRUE(WriteFileAtomic(call.out, recorded));
    return RunAdapter(ncu, call, [&](const auto&) -> Result<Jail::RunOutcome> {
      Jail::RunOutcome outcome;
      outcome.outcome.code = code;
      return outcome;
    });
  };
  auto outcome = run(Recorded("ncu/no_kernel.csv"), 0).value();
  EXPECT_EQ(outcome.note.verdict, "failed");
  EXPECT_THAT(outcome.note.detail, HasSubstr("no kernel ran between"));
  outcome = run(Recorded("ncu/unknown_metric.csv"), 9).value();
  EXPECT_THAT(outcome.note.detail, HasSubstr("does not know derived__local_spilling"));
  outcome = run("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", 1).value();
  EXPECT_EQ(outcome.note.verdict, "refused");
  EXPECT_THAT(outcome.note.detail, HasSubstr("CAP_SYS_ADMIN"));
  outcome = run("==PROF== hello\n==ERROR== the dog ate it\n", 1).value();
  EXPECT_THAT(outcome.note.detail, HasSubstr("the dog ate it"));
}

// If a single name is unknown to this version of ncu, it measures nothing at all.
TEST(AdapterRunTest, NcuIsRunAgainWithoutWhatItDoesNotKnow) {
  Adapter ncu = Shipped("ncu");
  ncu.probe.program = "true";
  const TempDir folder = TempDir::Create().value();
  const AdapterCall call{.program = {"x"}, .kernel = "", .out = folder.path() / "out"};
  std::vector<std::string> asked;
  const auto run = [&](const std::vector<std::string>& argv) -> Result<Jail::RunOutcome> {
    asked.push_back(argv[argv.size() - 2]);
    const bool knows = asked.back().find("lts__throughput") == std::string::npos;
    const std::string unknown =
        "==ERROR== Failed to find metric regex:^lts__throughput\\.(sum|min|max|avg)$\n";
    EXPECT_TRUE(WriteFileAtomic(call.out, knows ? Recorded("ncu/raw_full.csv") : unknown));
    Jail::RunOutcome outcome;
    outcome.outcome.code = knows ? 0 : 9;
    return outcome;
  };
  const auto outcome = RunAdapter(ncu, call, run).value();
  EXPECT_EQ(outcome.note.verdict, "ran");
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_THAT(asked[0], HasSubstr("lts__throughput.avg"));
  EXPECT_THAT(asked[1], HasSubstr("lts__t_sector_hit_rate.pct"));
  // A name that was never requested cannot be left out.
  const auto stubborn = [&](const std::vector<std::string>&) -> Result<Jail::RunOutcome> {
    EXPECT_TRUE(WriteFileAtomic(call.out, Recorded("ncu/unknown_metric.csv")));
    return Jail::RunOutcome{};
  };
  const auto failed = RunAdapter(ncu, call, stubborn).value();
  EXPECT_EQ(failed.note.verdict, "failed");
  EXPECT_THAT(failed.note.detail, HasSubstr("does not know derived__local_spilling_requests_pct"));
}

TEST(AdapterRunTest, OurOwnTroubleIsAnError) {
  const AdapterRunner broken = [](const auto&) -> Result<Jail::RunOutcome> {
    return Fail("no jail");
  };
  EXPECT_FALSE(RunAdapter(Shell("true"), {.program = {"x"}}, broken));
}

TEST(AdapterRunTest, ToolsThatCountOneAtATimeAreRunForEach) {
  Adapter adapter = Shipped("rocprofv3");
  adapter.probe.program = "true";  // exists everywhere
  const TempDir folder = TempDir::Create().value();
  std::vector<std::string> asked;
  const AdapterRunner run = [&](const std::vector<std::string>& argv) -> Result<Jail::RunOutcome> {
    asked.push_back(argv.at(2));
    TRY(WriteFileAtomic(folder.path() / "pragma_counter_collection.csv",
                        Recorded("rocprofv3/" + argv.at(2) + ".csv")));
    return Jail::RunOutcome{};
  };
  const AdapterCall call{.program = {"app"}, .kernel = "softmax", .out = folder.path().string()};
  const auto some = RunAdapter(adapter, call, run, {"gpu_l2_hit_rate"}).value();
  EXPECT_THAT(asked, ElementsAre("TCC_HIT_sum", "TCC_MISS_sum"));
  EXPECT_DOUBLE_EQ(Value(some.metrics, "gpu_l2_hit_rate"), 75);
}

TEST(AdapterRunTest, AFileThatIsALinkIsNotRead) {
  const TempDir folder = TempDir::Create().value();
  const std::string secret = folder.path() / "secret";
  const std::string out = folder.path() / "out";
  ASSERT_TRUE(WriteFileAtomic(secret, Recorded("perf/stat.jsonl")));
  std::filesystem::create_symlink(secret, out);
  Adapter adapter = Shipped("perf-stat");
  adapter.probe.program = "true";
  const AdapterRunner run = [](const auto&) -> Result<Jail::RunOutcome> {
    return Jail::RunOutcome{};
  };
  EXPECT_EQ(RunAdapter(adapter, {.program = {"x"}, .out = out}, run)->note.verdict, "failed");
}

// Builds the profiled program of the live tests: a function that touches every 16th float.
std::string Program(const TempDir& folder) {
  const std::string source = folder.path() / "app.c";
  std::string program = folder.path() / "app";
  EXPECT_TRUE(WriteFileAtomic(source, R"(
static float x[1 << 20];
__attribute__((noinline)) float pragma_kernel(float* p, int n) {
  float s = 0;
  for (int i = 0; i < n; i += 16) s += p[i];
  return s;
}
int main(void) { return pragma_kernel(x, 1 << 20) > 1; }
)"));
  const auto built =
      RunProcess({.argv = {"gcc", "-O1", "-o", program, source}, .inherit_env = true}, {});
  EXPECT_TRUE(built && built->status.ok()) << built->err;
  return program;
}

TEST(AdapterLiveTest, ValgrindCountsTheKernelAlone) {
  const Adapter adapter = Shipped("cachegrind");
  if (!FindAdapterProgram(adapter)) GTEST_SKIP() << adapter.probe.install;
  const TempDir folder = TempDir::Create().value();
  const AdapterCall call{.program = {Program(folder)},
                         .kernel = "pragma_kernel",
                         .natives = {},
                         .out = folder.path() / "out",
                         .out_here = {},
                         .caches = {{.level = 1, .bytes = 32768, .ways = 8, .line_bytes = 64},
                                    {.level = 2, .bytes = 1048576, .ways = 16, .line_bytes = 64}}};
  const auto outcome = RunAdapter(adapter, call, RunHere).value();
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  // One load per iteration, each in a cache line of its own (the return address is one more).
  EXPECT_NEAR(Value(outcome.metrics, "loads"), 65536, 4);
  EXPECT_NEAR(Value(outcome.metrics, "l1_misses"), 65536, 4);
  EXPECT_NEAR(Value(outcome.metrics, "branches"), 65536, 4);
}

TEST(AdapterLiveTest, PerfStatCountsSoftwareEventsAnywhere) {
  const Adapter adapter = Shipped("perf-stat");
  if (!FindAdapterProgram(adapter)) GTEST_SKIP() << adapter.probe.install;
  const TempDir folder = TempDir::Create().value();
  const AdapterCall call{.program = {Program(folder)}, .out = folder.path() / "out"};
  const auto outcome = RunAdapter(adapter, call, RunHere).value();
  if (outcome.note.verdict == "refused") GTEST_SKIP() << outcome.note.detail;
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_GT(Value(outcome.metrics, "program_page_faults"), 10);
}

}  // namespace
}  // namespace pragma
