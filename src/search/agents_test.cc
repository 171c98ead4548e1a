// Runs the real roles with the real prompts over a scripted model: a run, its recording, and its
// replay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "core/trial.h"
#include "llm/model.h"
#include "search/recording.h"
#include "search/recording_model.h"
#include "search/replay.h"
#include "search/session.h"
#include "search/settings.h"
#include "search/strategy.h"
#include "store/store.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Code(const std::string& body) {
  return "Here it is.\n```cpp\n#include \"kernel.h\"\nextern \"C\" void pragma_kernel(const float* "
         "x, float* out, "
         "void*) { " +
         body + " }\n```\n";
}

// Answers in the order of the questions, and records them.
class QueueModel final : public Model {
 public:
  explicit QueueModel(std::vector<std::string> replies) : replies_(std::move(replies)) {}
  Result<Completion> Complete(const std::vector<Message>& messages, const Sampling& /*sampling*/,
                              const CallKey& /*key*/) override {
    prompts.push_back(messages.back().text);
    if (prompts.size() > replies_.size()) return Fail(ErrorKind::kUnavailable, "no more replies");
    return Completion{.text = replies_[prompts.size() - 1], .tokens_in = 10, .tokens_out = 5};
  }
  std::string name() const override { return "queue"; }
  std::vector<std::string> prompts;

 private:
  std::vector<std::string> replies_;
};

Task ReluTask() {
  Task task;
  task.name = "relu";
  task.source = "import torch\n";
  task.arguments = {{"x", "args[0]", TensorRole::kInput, DType::kFloat32, {4}}};
  task.outputs = {{"out", "output", TensorRole::kOutput, DType::kFloat32, {4}}};
  return task;
}

Result<Evaluation> JudgeByWord(const Candidate& candidate, const Trial* best, int /*node*/) {
  Evaluation evaluation;
  const bool good = candidate.source().find("good") != std::string::npos;
  evaluation.status = good ? Status::kPassed : Status::kCompileError;
  evaluation.reason = good ? "" : "kernel.cpp:3: 'y' was not declared";
  if (good) evaluation.timing = Timing{.ms = {2, 1.9, 2.1}};
  if (good && best != nullptr) evaluation.speedup_best = Interval{1.2, 1.1, 1.3};
  return evaluation;
}

struct StoredRun {
  TempDir dir = TempDir::Create().value();
  Store store = Store::Open(dir.path() / ".pragma").value();
  RunSettings settings;
  std::string id;
};

Result<SessionResult> Drive(StoredRun& run, QueueModel& queue) {
  const Task task = ReluTask();
  run.id = TRY(StartRun(run.store, task, "relu.py", run.settings)).id;
  RecordingModel model(queue, run.store);
  const AgentModels models{.conductor = &model, .coder = &model, .debugger = &model};
  const Agents agents =
      TRY(ModelAgents(std::string(PRAGMA_SOURCE_DIR) + "/prompts", {})(models, run.settings));
  const auto strategy = MakeStrategy(run.settings.preset, {});
  SystemClock clock;
  const MachineSummary machine{run.settings.machine};
  const SessionParts parts{.store = &run.store,
                           .strategy = strategy.get(),
                           .conductor = agents.conductor.get(),
                           .coder = agents.coder.get(),
                           .debugger = agents.debugger.get(),
                           .clock = &clock,
                           .evaluate = JudgeByWord,
                           .task = &task,
                           .kernel_header = &run.settings.kernel_header,
                           .machine = &machine,
                           .advice_from_user = run.settings.advice_from_user};
  return RunSession(run.id, parts, run.settings.preset, run.settings.budget);
}

void ExpectSameReplay(StoredRun& run, const SessionResult& result) {
  ASSERT_TRUE(run.store.FinishRun(run.id, result.stopped, ""));
  const std::filesystem::path file = run.dir.path() / "run.jsonl";
  ASSERT_TRUE(ExportRecording(run.store, run.id, file));
  const auto recording = LoadRecording(file);
  ASSERT_TRUE(recording) << recording.error().message;
  const ReplayParts parts{
      .store = &run.store,
      .make_agents = ModelAgents(std::string(PRAGMA_SOURCE_DIR) + "/prompts", {})};
  const auto replay = ReplayRun(parts, *recording);
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_TRUE(replay->same_tree);
  EXPECT_THAT(replay->notes, IsEmpty()) << "the same prompts, to the letter";
}

TEST(RealRoles, NPragmaFromRunToRecordingToReplay) {
  StoredRun run;
  run.settings.preset =
      LoadPreset(std::string(PRAGMA_SOURCE_DIR) + "/strategies", "n-pragma").value();
  run.settings.budget.attempts = 3;
  run.settings.kernel_header = "// the header\n";
  run.settings.machine = "two processors";
  run.settings.advice_from_user = "mind the tail";
  QueueModel queue({Code("y;"), R"({"base":"current","bottleneck":"","change":"declare y"})",
                    "I would rather not write code.", Code("/* good 1 */"),
                    R"({"base":"best","bottleneck":"not_vectorised","change":"use SIMD"})",
                    Code("/* good 2 */")});
  const auto result = Drive(run, queue);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tree.size(), 3U);
  EXPECT_EQ(result->tree.at(2).advice->change, "declare y");
  EXPECT_TRUE(result->tree.at(2).evaluation.passed());
  EXPECT_TRUE(result->tree.at(3).best);
  EXPECT_EQ(result->tree.at(3).parent, 2);
  EXPECT_THAT(queue.prompts.at(0), HasSubstr("mind the tail"));
  EXPECT_THAT(queue.prompts.at(1), HasSubstr("'y' was not declared"));
  EXPECT_EQ(run.store.Calls(run.id)->size(), 6U) << "the re-ask is a call of its own";
  ExpectSameReplay(run, *result);
}

// Returns the source of Code(body) with its last line marked.
std::string Plan(const std::string& body) {
  std::string source = Code(body);
  const std::size_t at = source.find(body);
  source.insert(at + body.size(), "\n// <<<IMPROVE END>>>");
  source.insert(at, "// <<<IMPROVE BEGIN>>>\n// two at once\n");
  return "Take two at once.\n\n" + source;
}

TEST(RealRoles, StarkFromRunToRecordingToReplay) {
  StoredRun run;
  run.settings.preset = LoadPreset(std::string(PRAGMA_SOURCE_DIR) + "/strategies", "stark").value();
  run.settings.preset.tree.root_children = 1;
  run.settings.preset.tree.epsilon = 0;
  run.settings.budget.attempts = 3;
  const std::string module =
      "Vector code.\n```python\n## <<<IMPROVE BEGIN>>>\n# lanes\nimport torch\n"
      "## <<<IMPROVE END>>>\n```\n";
  QueueModel queue({"no markers here", module, Code("y;"), Code("/* good 1 */"),
                    Plan("/* good 1 */"), Code("/* good 2 */")});
  const auto result = Drive(run, queue);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tree.size(), 3U);
  EXPECT_THAT(queue.prompts.at(0), HasSubstr("mark the part of it"));
  EXPECT_THAT(queue.prompts.at(1), HasSubstr("no fenced block"));
  EXPECT_THAT(queue.prompts.at(2), HasSubstr("# lanes"));
  const Trial& repaired = result->tree.at(2);
  EXPECT_EQ(repaired.role, Role::kRepair);
  EXPECT_EQ(repaired.author, "debugger queue");
  EXPECT_EQ(repaired.advice->change, "Vector code.")
      << "the plan that the repair still carries out";
  EXPECT_FALSE(repaired.edit);
  EXPECT_THAT(queue.prompts.at(3), HasSubstr("What it was meant to achieve: Vector code."));
  EXPECT_THAT(queue.prompts.at(3), HasSubstr("'y' was not declared"));
  const Trial& improved = result->tree.at(3);
  EXPECT_EQ(improved.parent, 2);
  EXPECT_TRUE(improved.edit->inside());
  EXPECT_THAT(queue.prompts.at(5), HasSubstr("// two at once"));
  ExpectSameReplay(run, *result);
}

TEST(RealRoles, AnEditOutsideTheMarkedBlockCanBeRefused) {
  StoredRun run;
  run.settings.preset = LoadPreset(std::string(PRAGMA_SOURCE_DIR) + "/strategies", "stark").value();
  run.settings.preset.tree.root_children = 1;
  run.settings.preset.tree.epsilon = 0;
  run.settings.preset.advises = {"improve"};
  run.settings.preset.edit_check = EditRule::kReject;
  run.settings.budget.attempts = 2;
  QueueModel queue({Code("/* good */ int b;\nint a;"), Plan("int a;"), Code("/* good */ int c;")});
  // The plan contains its own source. The Coder's source has lost nothing of it except the block.
  const auto result = Drive(run, queue);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->tree.at(2).edit->inside());
  EXPECT_GT(result->tree.at(2).edit->planner_lines, 0) << "the planner dropped a line";
  QueueModel again(
      {Code("/* good */\nint a;"), Plan("int b;\nint a;"), "```cpp\nvoid pragma_kernel;\n```"});
  StoredRun second;
  second.settings = run.settings;
  const auto refused = Drive(second, again);
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->tree.at(2).evaluation.status, Status::kRejectedSource);
  EXPECT_THAT(refused->tree.at(2).evaluation.reason, HasSubstr("left the block"));
}

TEST(RealRoles, CaesarFromRunToRecordingToReplay) {
  StoredRun run;
  run.settings.preset =
      LoadPreset(std::string(PRAGMA_SOURCE_DIR) + "/strategies", "caesar").value();
  run.settings.budget.attempts = 3;
  QueueModel queue({Code("y;"), Code("/* good 1 */"), Code("/* good 2 */")});
  const auto result = Drive(run, queue);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(queue.prompts.at(1), HasSubstr("'y' was not declared"));
  EXPECT_TRUE(result->tree.at(3).best);
  ExpectSameReplay(run, *result);
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
