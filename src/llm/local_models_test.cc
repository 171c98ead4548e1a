// Tests the models that need no network (command, handoff, replay) and the settings of all models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "llm/model.h"
#include "tests/llm/fault_server.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const std::vector<Message> kMessages{{"user", "What is 6 x 7?"}};

class LocalModelsTest : public testing::Test {
 protected:
  LocalModelsTest() : folder_(std::move(*TempDir::Create())) {}
  std::unique_ptr<Model> Make(const std::string& spec) {
    auto model = MakeModel(spec, options_, clock_);
    EXPECT_TRUE(model) << model.error().message;
    return model ? std::move(*model) : nullptr;
  }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, text));
  }
  [[nodiscard]] std::string Read(const std::string& name) const {
    return ReadFile(folder_.path() / name).value_or("(no file " + name + ")");
  }
  TempDir folder_;
  ModelOptions options_;
  FakeClock clock_;
};

TEST_F(LocalModelsTest, CommandReadsThePromptAndPrintsTheReply) {
  const auto model = Make("command:'cat; echo \"$PRAGMA_ROLE $PRAGMA_NODE $PRAGMA_ORDINAL\"'");
  const auto reply =
      model->Complete(kMessages, {}, {.run = "r", .node = 3, .role = "coder", .ordinal = 1});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "What is 6 x 7?\ncoder 3 1\n");
  EXPECT_TRUE(reply->tokens_estimated);
}

TEST_F(LocalModelsTest, CommandThatIgnoresALongPromptIsFine) {
  const auto reply =
      Make("command:echo 42")->Complete({{"user", std::string(1 << 20, 'x')}}, {}, {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "42\n");
}

TEST_F(LocalModelsTest, CommandThatFailsSaysWhy) {
  const auto reply = Make("command:echo no credit >&2; exit 3")->Complete(kMessages, {}, {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(reply.error().message, AllOf(HasSubstr("exit code 3"), HasSubstr("no credit")));
}

TEST_F(LocalModelsTest, CommandIsKilledAtTheTimeout) {
  options_.timeout = Seconds(1);
  const std::string pid_file = (folder_.path() / "pid").string();
  const auto reply =
      Make("command:sleep 1000 & echo $! > " + pid_file + "; wait")->Complete(kMessages, {}, {});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("did not end within"));
  // The whole process group, including the command's own child, is dead or about to die.
  const UniqueFd child(static_cast<int>(::syscall(SYS_pidfd_open, std::stoi(Read("pid")), 0)));
  pollfd waiter{.fd = child.get(), .events = POLLIN, .revents = 0};
  EXPECT_TRUE(!child.valid() || ::poll(&waiter, 1, 10'000) == 1) << "the command's child lives on";
}

TEST_F(LocalModelsTest, CommandEndsOnInterrupt) {
  const auto model = Make("command:sleep 1000");
  SetInterruptedForTest(true);
  const auto reply = model->Complete(kMessages, {}, {});
  SetInterruptedForTest(false);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kInterrupted);
}

TEST_F(LocalModelsTest, CommandWithEndlessOutputIsStopped) {
  const auto reply = Make("command:yes")->Complete(kMessages, {}, {});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("printed more than"));
}

TEST_F(LocalModelsTest, HandoffWritesThePromptAndWaits) {
  const auto model = Make("handoff:" + folder_.path().string());
  clock_.on_sleep = [&] {
    if (clock_.slept() > 5) Write("0001-coder.reply.md", "<think>6*7</think>42");
  };
  const auto reply =
      model->Complete(kMessages, {}, {.run = "r1", .node = 2, .role = "coder", .ordinal = 0});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "42");
  EXPECT_EQ(reply->reasoning, "6*7");
  EXPECT_GE(reply->seconds, 4.9);
  EXPECT_THAT(Read("0001-coder.prompt.md"),
              AllOf(HasSubstr("What is 6 x 7?"), HasSubstr("`0001-coder.reply.md`")));
}

TEST_F(LocalModelsTest, HandoffNeverOverwritesAndCountsOn) {
  Write("0007-conductor.prompt.md", "old");
  Write("0007-conductor.reply.md", "old reply");
  Write("0012-notes.txt", "of the user");
  const auto model = Make("handoff:" + folder_.path().string());
  clock_.on_sleep = [&] { Write("0013-coder.reply.md", "42"); };
  ASSERT_TRUE(
      model->Complete(kMessages, {}, {.run = "r", .node = 1, .role = "coder", .ordinal = 0}));
  EXPECT_EQ(Read("0007-conductor.prompt.md"), "old");
}

TEST_F(LocalModelsTest, HandoffTakesUpTheSameCallAgain) {
  const CallKey key{.run = "r", .node = 1, .role = "coder", .ordinal = 0};
  clock_.on_sleep = [&] { Write("0001-coder.reply.md", "42"); };
  ASSERT_TRUE(Make("handoff:" + folder_.path().string())->Complete(kMessages, {}, key));
  clock_.on_sleep = [] { FAIL() << "the reply is there: nothing to wait for"; };
  const auto again = Make("handoff:" + folder_.path().string())->Complete(kMessages, {}, key);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, "42");
  // The next attempt with exactly the same question is a new request (independent samples).
  clock_.on_sleep = [&] { Write("0002-coder.reply.md", "43"); };
  CallKey next = key;
  next.node = 2;
  const auto other = Make("handoff:" + folder_.path().string())->Complete(kMessages, {}, next);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->text, "43");
}

TEST_F(LocalModelsTest, HandoffEndsOnInterrupt) {
  const auto model = Make("handoff:" + folder_.path().string());
  clock_.on_sleep = [] { SetInterruptedForTest(true); };
  const auto reply =
      model->Complete(kMessages, {}, {.run = "r", .node = 1, .role = "coder", .ordinal = 0});
  SetInterruptedForTest(false);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kInterrupted);
  EXPECT_LE(clock_.slept(), 0.3);
}

TEST_F(LocalModelsTest, HandoffKeepsRolesInsideTheFolder) {
  const auto model = Make("handoff:" + folder_.path().string());
  clock_.on_sleep = [&] { Write("0001-___evil.reply.md", "42"); };
  EXPECT_TRUE(
      model->Complete(kMessages, {}, {.run = "r", .node = 1, .role = "../evil", .ordinal = 0}));
}

std::string Call(int node, const std::string& role, int ordinal, const std::string& text) {
  return R"({"kind":"call","node":)" + std::to_string(node) + R"(,"role":")" + role +
         R"(","ordinal":)" + std::to_string(ordinal) + R"(,"completion":{"text":")" + text +
         R"(","tokens_in":3,"later":{}},"messages":[]})" + "\n";
}

TEST_F(LocalModelsTest, ReplayAnswersByKey) {
  Write("r.jsonl", R"({"kind":"run","id":"r"})"
                   "\n\n" +
                       Call(1, "coder", 0, "a") +
                       R"({"kind":"trial","node":1})"
                       "\n" +
                       Call(2, "coder", 0, "b") + Call(2, "coder", 1, "c") +
                       Call(2, "conductor", 0, "d"));
  const std::string spec = "replay:" + (folder_.path() / "r.jsonl").string();
  const auto model = Make(spec);
  // A resumed run begins in the middle of the recording.
  EXPECT_EQ(model->Complete(kMessages, {}, {"r", 2, "coder", 1})->text, "c");
  EXPECT_EQ(model->Complete(kMessages, {}, {"r", 2, "conductor", 0})->text, "d");
  EXPECT_EQ(model->Complete(kMessages, {}, {"r", 1, "coder", 0})->text, "a");
  EXPECT_EQ(model->Complete(kMessages, {}, {"r", 2, "coder", 0})->tokens_in, 3);
}

TEST_F(LocalModelsTest, ReplayAnswersInOrderWhereKeysDiffer) {
  Write("r.jsonl", R"({"kind":"call","role":"coder","completion":{"text":"a"}})"
                   "\n"
                   R"({"kind":"call","role":"coder","completion":{"text":"b"}})"
                   "\n");
  const auto model = Make("replay:" + (folder_.path() / "r.jsonl").string());
  EXPECT_EQ(model->Complete(kMessages, {}, {"r", 1, "coder", 0})->text, "a");
  EXPECT_EQ(model->Complete(kMessages, {}, {"r", 5, "coder", 0})->text, "b");
  const auto exhausted = model->Complete(kMessages, {}, {"r", 6, "coder", 0});
  ASSERT_FALSE(exhausted);
  EXPECT_EQ(exhausted.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(exhausted.error().message,
              AllOf(HasSubstr("2 replies of the coder"), HasSubstr("attempt 6")));
}

TEST_F(LocalModelsTest, ReplaySaysWhichLineIsBroken) {
  Write("a.jsonl", "{\"kind\":\"run\"}\nnot json\n");
  Write("b.jsonl", "{\"kind\":\"call\",\"role\":\"coder\"}\n");
  Write("c.jsonl", "{\"kind\":\"run\"}\n");
  for (const auto& [file, says] : std::vector<std::pair<std::string, std::string>>{
           {"a.jsonl", "a.jsonl:2"}, {"b.jsonl", "completion"}, {"c.jsonl", "no recorded calls"}}) {
    const auto model = MakeModel("replay:" + (folder_.path() / file).string(), {}, clock_);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(model.error().message, HasSubstr(says));
  }
}

}  // namespace
}  // namespace pragma
