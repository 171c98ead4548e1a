// Tests the service models against tests/llm/fault_server.py, with a clock that controls all
// waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "llm/model.h"
#include "tests/llm/fault_server.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-test-0123456789";

class ServiceModelTest : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    auto started = FaultServer::Start();
    ASSERT_TRUE(started) << started.error().message;
    server = new FaultServer(std::move(*started));
  }
  static void TearDownTestSuite() {
    delete server;
    server = nullptr;
  }
  void SetUp() override {
    ::setenv("OPENAI_API_KEY", kKey, 1);
    ::setenv("ANTHROPIC_API_KEY", kKey, 1);
  }
  void TearDown() override {
    ::unsetenv("OPENAI_API_KEY");
    ::unsetenv("ANTHROPIC_API_KEY");
  }
  Result<Completion> Ask(const std::string& scenario) {
    options_.base_url = server->Url(scenario) + "/" + GetParam();
    auto model = MakeModel(GetParam() + ":fake", options_, clock_);
    if (!model) return std::unexpected(model.error());
    return (*model)->Complete({{"system", "Be brief."}, {"user", "Hi"}}, sampling_, {});
  }

  static FaultServer* server;
  FakeClock clock_;
  ModelOptions options_;
  Sampling sampling_;
};
FaultServer* ServiceModelTest::server = nullptr;

TEST_P(ServiceModelTest, Completes) {
  options_.price = {.usd_per_million_in = 1000, .usd_per_million_out = 2000};
  const auto reply = Ask("ok");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "hello");
  EXPECT_EQ(reply->model, "fake-1");
  EXPECT_EQ(reply->tokens_in, 11);
  EXPECT_EQ(reply->tokens_out, 7);
  EXPECT_FALSE(reply->tokens_estimated);
  EXPECT_DOUBLE_EQ(reply->usd, 0.025);
  EXPECT_EQ(clock_.slept(), 0);
}

TEST_P(ServiceModelTest, SendsWhatTheProtocolWants) {
  sampling_ = {.temperature = 0.25, .max_tokens = 99};
  const auto reply = Ask("echo");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(reply->text,
              AllOf(HasSubstr("\"model\": \"fake\""), HasSubstr("\"temperature\": 0.25"),
                    HasSubstr("\"max_tokens\": 99"), HasSubstr("Be brief.")));
  if (GetParam() == "openai") {
    EXPECT_THAT(reply->text,
                AllOf(HasSubstr("/chat/completions"), HasSubstr("\"role\": \"system\""),
                      HasSubstr("\"authorization\": \"Bearer sk-test-0123456789\"")));
  } else {
    EXPECT_THAT(reply->text,
                AllOf(HasSubstr("/v1/messages"), HasSubstr("\"system\": \"Be brief.\""),
                      HasSubstr("\"x-api-key\": \"sk-test-0123456789\""),
                      HasSubstr("\"anthropic-version\": \"2023-06-01\"")));
  }
}

// Recovery: a fault that goes away after the number of tries in the server's script.
struct Recovery {
  const char* scenario;
  const char* text;
  double least;  // least seconds waited
  double most;
};
TEST_P(ServiceModelTest, RecoversFromPassingTrouble) {
  // The server counts tries per scenario and not per protocol, so each protocol needs its own
  // server.
  auto own = FaultServer::Start();
  ASSERT_TRUE(own);
  std::swap(*server, *own);
  for (const Recovery& r : {Recovery{"busy", "after 2", 7, 7.5},
                            {"busy_date", "after 2", 28, 32},
                            {"fail_twice", "after 3", 1.5, 3},
                            {"cut_once", "after 2", 0.5, 1},
                            {"cut_without_length", "after 2", 0.5, 1},
                            {"invalid_once", "after 2", 0.5, 1},
                            {"html_once", "after 2", 0.5, 1},
                            {"error_200", "after 2", 0.5, 1}}) {
    const double before = clock_.slept();
    const auto reply = Ask(r.scenario);
    ASSERT_TRUE(reply) << r.scenario << ": " << reply.error().message;
    EXPECT_EQ(reply->text, r.text) << r.scenario;
    EXPECT_GE(clock_.slept() - before, r.least) << r.scenario;
    EXPECT_LE(clock_.slept() - before, r.most) << r.scenario;
    EXPECT_GE(reply->seconds, r.least) << r.scenario;
  }
  std::swap(*server, *own);
}

TEST_P(ServiceModelTest, GivesUpAfterItsRetries) {
  options_.max_retries = 3;
  const auto reply = Ask("always_503");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(reply.error().message, AllOf(HasSubstr(GetParam() + ":fake: gave up after 4 tries"),
                                           HasSubstr("503"), HasSubstr("overloaded")));
  EXPECT_GE(clock_.slept(), 0.5 + 1 + 2);
}

TEST_P(ServiceModelTest, SaysWhatCameInsteadOfAReply) {
  options_.max_retries = 1;
  const auto reply = Ask("html");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(reply.error().message,
              AllOf(HasSubstr("not JSON"), HasSubstr("text/html"), HasSubstr("Please log in")));
}

TEST_P(ServiceModelTest, RepliesWithoutContentAreTrouble) {
  options_.max_retries = 0;
  const auto reply = Ask("empty_choices");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
}

TEST_P(ServiceModelTest, DoesNotWaitADay) {
  const auto reply = Ask("busy_for_a_day");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(reply.error().message, HasSubstr("asks to wait 86400 s"));
  EXPECT_EQ(clock_.slept(), 0);
}

TEST_P(ServiceModelTest, NoMoneyLeftIsNotRetried) {
  const auto reply = Ask("no_quota");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(reply.error().message, HasSubstr("exceeded your quota"));
  EXPECT_EQ(clock_.slept(), 0);
}

TEST_P(ServiceModelTest, TimesOut) {
  options_.timeout = Seconds(0.2);
  options_.max_retries = 1;
  const auto reply = Ask("slow");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(reply.error().message, HasSubstr("no complete reply"));
}

TEST_P(ServiceModelTest, HugeRepliesAreRefusedAtOnce) {
  const auto reply = Ask("huge");
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("larger than 32.0 MiB"));
  EXPECT_EQ(clock_.slept(), 0);
}

TEST_P(ServiceModelTest, ClientErrorsAreNotRetried) {
  for (const auto& [scenario, says] : std::vector<std::pair<std::string, std::string>>{
           {"unauthorized", "_API_KEY"},
           {"missing", "knows no model fake"},
           {"bad_request", "the moon is full"},
           {"redirect", "redirects to http://elsewhere.invalid/v1"}}) {
    const auto reply = Ask(scenario);
    ASSERT_FALSE(reply) << scenario;
    EXPECT_EQ(reply.error().kind, ErrorKind::kUsage) << scenario;
    EXPECT_THAT(reply.error().message, HasSubstr(says));
    EXPECT_THAT(reply.error().message, Not(HasSubstr(kKey))) << "the key leaked";
  }
  EXPECT_EQ(clock_.slept(), 0);
}

TEST_P(ServiceModelTest, LearnsWhatTheModelDoesNotAccept) {
  const auto reply = Ask("picky");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(reply->text, HasSubstr("after"));
  EXPECT_EQ(clock_.slept(), 0);
}

TEST_P(ServiceModelTest, KeepsReasoningOutOfTheText) {
  for (const char* scenario : {"reasoning", "reasoning_short", "think"}) {
    if (std::string(scenario) == "reasoning_short" && GetParam() != "openai") continue;
    const auto reply = Ask(scenario);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(reply->text, AllOf(HasSubstr("answer"), Not(HasSubstr("I think")))) << scenario;
    EXPECT_THAT(reply->reasoning, HasSubstr("I think")) << scenario;
  }
}

TEST_P(ServiceModelTest, InterruptEndsTheBackOff) {
  clock_.on_sleep = [] { SetInterruptedForTest(true); };
  const auto reply = Ask("always_503");
  SetInterruptedForTest(false);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kInterrupted);
  EXPECT_LE(clock_.slept(), 0.2);
}

TEST_P(ServiceModelTest, NeedsNoKeyOnOnesOwnServer) {
  TearDown();
  EXPECT_TRUE(Ask("ok"));
  const auto refused = Ask("unauthorized");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("wants a key"), HasSubstr("_API_KEY")));
}

INSTANTIATE_TEST_SUITE_P(Protocols, ServiceModelTest, testing::Values("openai", "anthropic"));

TEST(MakeModelTest, SaysWhichVariableIsMissing) {
  ::unsetenv("OPENAI_API_KEY");
  ::unsetenv("OPENAI_BASE_URL");
  FakeClock clock;
  const auto model = MakeModel("openai:gpt", {}, clock);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(model.error().message, HasSubstr("OPENAI_API_KEY is not set"));
}

TEST(MakeModelTest, TakesTheBaseUrlFromTheEnvironment) {
  ::setenv("OPENAI_BASE_URL", "localhost:1234", 1);
  FakeClock clock;
  const auto model = MakeModel("openai:gpt", {}, clock);
  ::unsetenv("OPENAI_BASE_URL");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, AllOf(HasSubstr("localhost:1234"), HasSubstr("http://")));
}

TEST(MakeModelTest, RefusesKeysThatAreNone) {
  ::setenv("ANTHROPIC_API_KEY", "two words", 1);
  FakeClock clock;
  const auto model = MakeModel("anthropic:x", {}, clock);
  ::unsetenv("ANTHROPIC_API_KEY");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              AllOf(HasSubstr("ANTHROPIC_API_KEY"), Not(HasSubstr("two words"))));
}

TEST(MakeModelTest, RefusesOtherNames) {
  FakeClock clock;
  for (const char* spec : {"", "openai", "openai:", "gemini:x", "replay:/nowhere.jsonl"}) {
    const auto model = MakeModel(spec, {}, clock);
    ASSERT_FALSE(model) << spec;
    EXPECT_EQ(model.error().kind, ErrorKind::kUsage) << spec;
  }
}

}  // namespace
}  // namespace pragma
