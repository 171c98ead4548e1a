#include "llm/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "llm/model.h"

namespace pragma {
namespace {

using testing::HasSubstr;

struct ReasoningCase {
  std::string reply;
  std::string text;
  std::string reasoning;
};

TEST(SeparateReasoning, TakesTheBlocksOut) {
  const std::vector<ReasoningCase> cases{
      {"plain", "plain", ""},
      {"<think>a</think>b", "b", "a"},
      {"x <think>a</think> y <thinking>c</thinking> z", "x  y  z", "a\n\nc"},
      {"<think>never ends", "", "never ends"},
      {"answer <think>never ends", "answer ", "never ends"},
      {"no opening </think> answer", " answer", "no opening"},
      {"<think>a <think>b</think> c</think>d", "d", "a\n\nb\n\nc"},
      {"</think></think>d", "d", ""},
      {"", "", ""},
  };
  for (const ReasoningCase& c : cases) {
    const SeparatedReply parts = SeparateReasoning(c.reply);
    EXPECT_EQ(parts.text, c.text) << c.reply;
    EXPECT_EQ(parts.reasoning, c.reasoning) << c.reply;
  }
}

TEST(FinishCompletion, EstimatesTokensOnlyWhereNoneWereCounted) {
  Completion counted{.text = "abcd", .tokens_in = 5, .tokens_out = 6};
  FinishCompletion(counted, {{"user", "12345678"}},
                   {.usd_per_million_in = 1e6, .usd_per_million_out = 2e6});
  EXPECT_FALSE(counted.tokens_estimated);
  EXPECT_DOUBLE_EQ(counted.usd, 5 + 12);
  Completion silent{.text = "abcd"};
  FinishCompletion(silent, {{"user", "12345678"}}, {});
  EXPECT_TRUE(silent.tokens_estimated);
  EXPECT_EQ(silent.tokens_in, 2);
  EXPECT_EQ(silent.tokens_out, 1);
  EXPECT_EQ(silent.usd, 0);
}

TEST(FinishCompletion, MakesValidUtf8) {
  Completion completion{.text =
                            "a\xFF"
                            "b"};
  FinishCompletion(completion, {}, {});
  EXPECT_EQ(completion.text,
            "a\xEF\xBF\xBD"
            "b");
}

TEST(CompletionJson, GoesThereAndBack) {
  const Completion before{.text = "t\n\"",
                          .reasoning = "r",
                          .model = "m",
                          .tokens_in = 1,
                          .tokens_out = 2,
                          .tokens_estimated = true,
                          .usd = 0.5,
                          .seconds = 1.5,
                          .truncated = true};
  const auto after = CompletionFromJson(CompletionToJson(before));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(CompletionToJson(*after), CompletionToJson(before));
  EXPECT_EQ(after->text, before.text);
  EXPECT_TRUE(after->truncated);
}

TEST(CompletionJson, ToleratesUnknownKeysAndTypes) {
  const auto completion =
      CompletionFromJson(R"({"text":"x","future":[1],"tokens_in":"many","usd":1e400,"seconds":2})");
  if (completion) {
    EXPECT_EQ(completion->tokens_in, 0);
  }
  EXPECT_TRUE(CompletionFromJson(R"({"text":"x","future":[1],"tokens_in":"many","seconds":2})"));
  EXPECT_FALSE(CompletionFromJson("{}"));
  EXPECT_FALSE(CompletionFromJson("[]"));
  EXPECT_FALSE(CompletionFromJson("{\"text\": 1}"));
  EXPECT_FALSE(CompletionFromJson("nonsense"));
}

TEST(MessagesJson, GoesThereAndBack) {
  const std::vector<Message> before{{"system", "s"}, {"user", "u\xFF"}};
  const auto after = MessagesFromJson(MessagesToJson(before));
  ASSERT_TRUE(after);
  ASSERT_EQ(after->size(), 2U);
  EXPECT_EQ((*after)[0].role, "system");
  EXPECT_FALSE(MessagesFromJson("{}"));
  EXPECT_FALSE(MessagesFromJson("[1]"));
}

TEST(MessagesAsText, NamesTurnsOnlyInConversations) {
  EXPECT_EQ(MessagesAsText({{"system", "S"}, {"user", "U"}}), "S\n\nU");
  EXPECT_EQ(MessagesAsText({{"user", "U"}, {"assistant", "A"}, {"user", "V"}}),
            "=== Request ===\n\nU\n\n=== Your earlier reply ===\n\nA\n\n=== Request ===\n\nV");
}

}  // namespace
}  // namespace pragma
