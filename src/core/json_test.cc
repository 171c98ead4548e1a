#include "core/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/trial.h"

// A missing value may end a test, so optionals are read unchecked.
// NOLINTBEGIN(bugprone-unchecked-optional-access)
namespace pragma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScalarValue Int(std::int64_t value) { return {.kind = ScalarValue::Kind::kInt, .integer = value}; }
ScalarValue Real(double value) { return {.kind = ScalarValue::Kind::kFloat, .real = value}; }
ScalarValue NodeRef(std::string name) {
  return {.kind = ScalarValue::Kind::kNode, .text = std::move(name)};
}
ScalarValue List(std::vector<ScalarValue> items) {
  return {.kind = ScalarValue::Kind::kList, .items = std::move(items)};
}

Task ExampleTask() {
  Task task;
  task.name = "softmax \"row\"";
  task.sha256 = "ab12";
  task.source = "import torch\n\tx = 'é'\n";
  task.category = "activation";
  task.lint = "sound";
  task.arguments = {{"x", "args[0]", TensorRole::kInput, DType::kFloat32, {16, 3, 512}},
                    {"w", "w", TensorRole::kParameter, DType::kBFloat16, {3}},
                    {"mask", "mask", TensorRole::kBuffer, DType::kBool, {}},
                    {.name = "turn",
                     .path = "lifted_tensor_0",
                     .role = TensorRole::kConstant,
                     .shape = {1, 2},
                     .constant = "0000803f00000040",
                     .complex = true}};
  task.outputs = {{"out", "output", TensorRole::kOutput, DType::kInt64, {16}}};
  task.output_kind = "tuple";
  task.init_args = {{"dim", Int(-1)},
                    {"eps", Real(1e-5)},
                    {"one", Real(1)},
                    {"flag", {.kind = ScalarValue::Kind::kBool, .integer = 1}},
                    {"nothing", {}}};
  task.call_args = {{"mode", {.kind = ScalarValue::Kind::kString, .text = "sum"}}};
  task.flops = 1.5e20;
  task.compulsory_bytes = 98304;
  task.peak_bytes = 65536;
  GraphNode node;
  node.name = "softmax";
  node.op = "aten.softmax.int";
  node.args = {NodeRef("x"), List({Int(1), List({Real(-kInfinity), Real(std::nan(""))})})};
  node.kwargs = {{"fill", Real(kInfinity)}};
  node.results = task.outputs;
  node.strides = {{1}, {}};
  task.graph = {node, {.name = "output", .op = "output"}};
  task.export_error = "none";
  task.random = true;
  task.stateful = true;
  task.reduction_length = 512;
  task.notes = {"tied: a and b"};
  return task;
}

Evaluation ExampleEvaluation() {
  Evaluation evaluation;
  evaluation.status = Status::kPassed;
  evaluation.reason = "fine";
  evaluation.checks = {{"values", CheckVerdict::kPass, "5 of 5"}};
  evaluation.diagnostics = {{"warning", "kernel.cpp", 3, 7, "unused", "int x;"}};
  evaluation.log = "text";
  evaluation.error = ErrorFigures{1e-6, 2e-6, 3e-7, 1e-7, {1, 2, 3}, "out"};
  evaluation.official_correct = true;
  evaluation.partly_checked = {"far_below"};
  evaluation.nan = {"NaN in x: passed on"};
  const Timing timing{{1.25, 1.2, 1.3}, 60, 5, "paired bursts", 2, 4.5};
  evaluation.timing = timing;
  evaluation.eager = timing;
  evaluation.speedup_eager = Interval{2, 1.9, 2.1};
  evaluation.speedup_best = Interval{1.1, 1.05, 1.15};
  evaluation.call =
      CallFigures{.over = "torch.compile",
                  .kept = {.speedup = {1.3, 1.2, 1.4}, .page_faults = 0.5},
                  .defaults = CallSession{.speedup = {0.6, 0.5, 0.7}, .baseline_page_faults = 12},
                  .trust = "weaker (python)"};
  evaluation.lower_bound_ms = 0.5;
  evaluation.noisy = "other programs used the processors";
  evaluation.load = Load{.seconds = 0.5,
                         .others = 0.25,
                         .steal = 0.125,
                         .pressure = 0.5,
                         .mhz_low = 1000,
                         .mhz_high = 2000,
                         .bursts = 60,
                         .disturbed = 20,
                         .rounds = 15,
                         .rounds_left_out = 3,
                         .waited_seconds = 1.5};
  evaluation.roofline = Roofline{.ms = 0.75, .compute_bound = true};
  evaluation.prepacked = true;
  evaluation.prepare_ms = 0.25;
  evaluation.tuning = Tuning{
      .variants = {{{{"TILE", 6}}, {}, Status::kPassed, "", {}, 0},
                   {{{"TILE", 8}}, {"-O2"}, Status::kPassed, "", Interval{1.25, 1.2, 1.3}, 7},
                   {{{"TILE", 9}}, {}, Status::kWrongValues, "off", {}, 0}},
      .chosen = 1,
      .combinations = 3,
      .seconds = 4.5,
      .limit_seconds = 20,
      .complete = true,
      .recalled = true};
  evaluation.environment = {"cpu",     "g++ 12", "2.13", "keep", "warm", 2, {"bwrap", "seccomp"},
                            "isolated"};
  evaluation.object_sha256 = "ab12";
  evaluation.seed = "00ff";
  evaluation.phases_ms = {{"build", 300}, {"time", 500.5}};
  return evaluation;
}

Trial ExampleTrial() {
  Trial trial;
  trial.node = 3;
  trial.parent = 1;
  trial.role = Role::kRepair;
  trial.author = "coder openai:NAME";
  trial.advice = Advice{Base::kCurrent, "not_vectorised", "mca", "use AVX", {"ipc"}, true};
  trial.candidate = CppCandidate("// pragma-flags: -O2\nint x;\n");
  trial.candidate->tunables = {{"TILE", 8}};
  trial.evaluation = ExampleEvaluation();
  trial.profile = Profile{{{"ipc", 1.5, "1", "pmu"}},
                          {{"l1_bound", 0.75, {"a", "b"}, "tile it", 12, 4.0}},
                          {{"kernel.cpp", 12, 88.5, "x += y;", "not vectorized"}},
                          {{"pmu", "absent", "no counters in this virtual machine", 0.25}}};
  trial.spent = {12.5, 1000, 200, 0.0125};
  trial.best = true;
  return trial;
}

TEST(TuningJson, RoundTripsAndRefusesAChoiceThatIsNotThere) {
  const std::string text = ToJson(*ExampleEvaluation().tuning);
  const Result<Tuning> tuning = TuningFromJson(text);
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(ToJson(*tuning), text);
  EXPECT_EQ(tuning->variants[1].tunables.at("TILE"), 8);
  EXPECT_FALSE(TuningFromJson(R"({"variants":[],"chosen":0})"));
  EXPECT_FALSE(TuningFromJson(R"({"variants":[{"status":"odd"}],"chosen":0})"));
}

TEST(TaskJson, RoundTripsTheWholeGraph) {
  const std::string text = ToJson(ExampleTask());
  const Result<Task> task = TaskFromJson(text);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(ToJson(*task), text);
  EXPECT_EQ(task->source, ExampleTask().source);
  EXPECT_EQ(task->set_bytes(), ExampleTask().set_bytes());
  EXPECT_EQ(task->arguments.back().constant, "0000803f00000040");
  EXPECT_TRUE(task->arguments.back().complex);
  EXPECT_FALSE(task->arguments.front().complex);
  ASSERT_EQ(task->graph.size(), 2U);
  const ScalarValue& inner = task->graph[0].args[1].items[1];
  EXPECT_EQ(inner.items[0].real, -kInfinity);
  EXPECT_TRUE(std::isnan(inner.items[1].real));
  EXPECT_EQ(task->graph[0].args[0].kind, ScalarValue::Kind::kNode);
  EXPECT_EQ(task->graph[0].strides, (std::vector<std::vector<std::int64_t>>{{1}, {}}));
}

TEST(TaskJson, KeepsWholeFloatsAndIntegersApart) {
  const Result<Task> task = TaskFromJson(ToJson(ExampleTask()));
  ASSERT_TRUE(task);
  EXPECT_EQ(task->init_args[0].value.kind, ScalarValue::Kind::kInt);
  EXPECT_EQ(task->init_args[2].value.kind, ScalarValue::Kind::kFloat);
  EXPECT_EQ(task->init_args[4].value.kind, ScalarValue::Kind::kNone);
}

TEST(TaskJson, RefusesUnknownTypesAndNegativeSizes) {
  const auto tensor = [](std::string_view fields) {
    return TaskFromJson(R"({"name":"t","arguments":[{"name":"x",)" + std::string(fields) + "}]}");
  };
  EXPECT_TRUE(tensor(R"("dtype":"int8","shape":[2])"));
  EXPECT_THAT(tensor(R"("dtype":"int7")").error().message, HasSubstr("arguments[0].dtype"));
  EXPECT_THAT(tensor(R"("shape":[-2])").error().message, HasSubstr("negative"));
  EXPECT_THAT(tensor(R"("role":"guest")").error().message, HasSubstr("guest"));
}

TEST(TaskJson, RefusesDeepNesting) {
  const std::string lists = std::string(5000, '[') + std::string(5000, ']');
  const auto task =
      TaskFromJson(R"({"name":"t","init_args":[{"name":"a","value":)" + lists + "}]}");
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("nested too deeply"));
}

TEST(EvaluationJson, NamesAreTheContract) {
  const Result<JsonReader> reader = JsonReader::Parse(ToJson(ExampleEvaluation()), "evaluation");
  ASSERT_TRUE(reader);
  const auto number = [&](const JsonReader& value) {
    double result = -1;
    value.Get(result);
    return result;
  };
  EXPECT_EQ(number((*reader)["schema"]), 1);
  EXPECT_EQ(number((*reader)["error"]["rel_l2"]), 3e-7);
  EXPECT_EQ(number((*reader)["timing"]["median_ms"]), 1.25);
  EXPECT_EQ(number((*reader)["timing"]["ci95_ms"].items().at(1)), 1.3);
  EXPECT_EQ(number((*reader)["baseline"]["eager"]["median_ms"]), 1.25);
  EXPECT_TRUE((*reader)["baseline"]["compile"].null());
  EXPECT_EQ(number((*reader)["speedup"]["eager"]["median"]), 2);
  EXPECT_EQ(number((*reader)["speedup"]["best"]["ci95"].items().at(0)), 1.05);
  EXPECT_EQ(number((*reader)["phases_ms"]["time"]), 500.5);
  EXPECT_TRUE(reader->status());
}

TEST(EvaluationJson, RoundTrips) {
  const std::string text = ToJson(ExampleEvaluation());
  const Result<Evaluation> evaluation = EvaluationFromJson(text);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(ToJson(*evaluation), text);
  EXPECT_EQ(evaluation->speedup_best->low, 1.05);
  ASSERT_TRUE(evaluation->call);
  EXPECT_EQ(evaluation->call->over, "torch.compile");
  EXPECT_EQ(evaluation->call->kept.speedup.high, 1.4);
  EXPECT_EQ(evaluation->call->kept.page_faults, 0.5);
  ASSERT_TRUE(evaluation->call->defaults);
  EXPECT_EQ(evaluation->call->defaults->baseline_page_faults, 12);
  EXPECT_EQ(evaluation->call->trust, "weaker (python)");
  EXPECT_FALSE(evaluation->compile.has_value());
  EXPECT_EQ(ToJson(EvaluationFromJson(ToJson(Evaluation{})).value()), ToJson(Evaluation{}));
}

TEST(EvaluationJson, NonFiniteNumbersBecomeNull) {
  Evaluation evaluation;
  evaluation.error = ErrorFigures{.max_abs = kInfinity, .max_rel = std::nan("")};
  evaluation.lower_bound_ms = kInfinity;
  const Result<Evaluation> back = EvaluationFromJson(ToJson(evaluation));
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::isnan(back->error->max_abs));
  EXPECT_TRUE(std::isnan(back->error->max_rel));
  EXPECT_EQ(back->error->rel_l2, 0);
  EXPECT_FALSE(back->lower_bound_ms.has_value());
}

TEST(EvaluationJson, ForeignTextIsRepaired) {
  Evaluation evaluation;
  evaluation.log = std::string("a\xff\x00z\x1b", 5);
  const Result<Evaluation> back = EvaluationFromJson(ToJson(evaluation));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->log, std::string("a\xEF\xBF\xBD\0z\x1b", 7));
}

TEST(EvaluationJson, WrongTypesAreErrorsThatNameThePlace) {
  const auto message = [](std::string_view text) {
    return EvaluationFromJson(text).error().message;
  };
  EXPECT_THAT(message(R"({"status":5})"), HasSubstr("status: should be text"));
  EXPECT_THAT(message(R"({"status":"great"})"), HasSubstr("great"));
  EXPECT_THAT(message(R"({})"), HasSubstr("status is missing"));
  EXPECT_THAT(message(R"({"status":"passed","checks":{}})"), HasSubstr("checks: should be a list"));
  EXPECT_THAT(message(R"({"status":"passed","checks":[{"name":"values","verdict":"great"}]})"),
              HasSubstr("verdict has the unknown value \"great\""));
  EXPECT_THAT(message(R"({"status":"passed","timing":{"samples":-1}})"),
              HasSubstr("timing.samples"));
  EXPECT_THAT(message(R"({"status":"passed","timing":{"ci95_ms":[1]}})"), HasSubstr("[low, high]"));
  EXPECT_THAT(message(R"({"status":"passed","schema":2})"), HasSubstr("newer"));
  EXPECT_THAT(message("[]"), HasSubstr("should be an object"));
  EXPECT_THAT(message("{"), HasSubstr("not JSON"));
  EXPECT_THAT(message("{\"a\":\"\xff\"}"), HasSubstr("not JSON"));
  EXPECT_THAT(message("{\"a\":1e999}"), HasSubstr("not JSON"));
}

TEST(TrialJson, RoundTrips) {
  const std::string text = ToJson(ExampleTrial());
  const Result<Trial> trial = TrialFromJson(text);
  ASSERT_TRUE(trial) << trial.error().message;
  EXPECT_EQ(ToJson(*trial), text);
  EXPECT_EQ(trial->candidate->id(), ExampleTrial().candidate->id());
  EXPECT_EQ(trial->spent.tokens(), 1200);
  EXPECT_EQ(trial->advice->base, Base::kCurrent);
  EXPECT_EQ(trial->profile->diagnosis[0].bottleneck, "l1_bound");
}

TEST(TrialJson, PartsMayBeMissing) {
  Trial trial;
  trial.node = 1;
  trial.evaluation.status = Status::kUnsupported;
  const Result<Trial> back = TrialFromJson(ToJson(trial));
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->candidate || back->advice || back->profile);
}

TEST(TrialJson, RefusesAParentThatComesLater) {
  Trial trial = ExampleTrial();
  trial.parent = 3;
  EXPECT_FALSE(TrialFromJson(ToJson(trial)));
}

TEST(CandidateJson, IdFollowsFromTheContent) {
  const auto candidate = CandidateFromJson(R"({"id":"forged","files":{"kernel.cpp":"int x;"}})");
  ASSERT_TRUE(candidate);
  EXPECT_THAT(candidate->id(), Not("forged"));
  EXPECT_FALSE(CandidateFromJson(R"({"language":"cobol"})"));
  EXPECT_FALSE(CandidateFromJson(R"({"files":{"kernel.cpp":7}})"));
  EXPECT_FALSE(CandidateFromJson(R"({"tunables":{"A":99999999999999999999}})"));
}

TEST(JsonReader, AnyPrefixOfATrialIsAnErrorAndNeverAThrow) {
  const std::string text = ToJson(ExampleTrial());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(TrialFromJson(std::string_view(text).substr(0, length)));
  }
}

TEST(JsonWriter, NestsAndSeparates) {
  JsonWriter writer;
  writer.BeginObject()
      .Key("a")
      .BeginArray()
      .Value(1)
      .BeginObject()
      .EndObject()
      .Value("x")
      .EndArray();
  writer.Field("b", true).Key("c").Raw("{\"d\":0}").Key("e").BeginObject().EndObject();
  writer.Field("f", 2.0).EndObject();
  EXPECT_EQ(writer.text(), R"({"a":[1,{},"x"],"b":true,"c":{"d":0},"e":{},"f":2.0})");
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
