// What is learnt from refusals, as services word them.
#include "llm/quirks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string Learn(const std::string& complaint, const std::string& request, Quirks& quirks) {
  return LearnQuirk({.complaint = complaint, .body = "{}", .request = request}, quirks);
}

TEST(LearnQuirk, LeavesOutWhatTheComplaintNamesFirst) {
  const std::string request = R"({"messages":[],"max_tokens":16384,"temperature":1,"top_p":0.9})";
  Quirks quirks;
  EXPECT_THAT(Learn("`temperature` and `top_p` cannot both be given", request, quirks),
              HasSubstr("temperature"));
  EXPECT_FALSE(quirks.Accepts("temperature"));
  EXPECT_TRUE(quirks.Accepts("top_p"));
  std::ignore = Learn("Use 'max_completion_tokens', not 'max_tokens'.", request, quirks);
  EXPECT_TRUE(quirks.max_completion_tokens);
  EXPECT_TRUE(quirks.Accepts("max_tokens"));
  EXPECT_THAT(Learn("messages: must not be empty", request, quirks), IsEmpty());
  EXPECT_THAT(Learn("the room temperatures are high", request, quirks), IsEmpty());
}

TEST(LearnQuirk, TheNamedParameterCounts) {
  Quirks quirks;
  std::ignore =
      LearnQuirk({.complaint = "Unsupported value",
                  .body = R"({"error":{"param":"reasoning_effort","message":"Unsupported value"}})",
                  .request = R"({"temperature":1,"reasoning_effort":"high"})"},
                 quirks);
  EXPECT_FALSE(quirks.Accepts("reasoning_effort"));
  EXPECT_TRUE(quirks.Accepts("temperature"));
}

TEST(LearnQuirk, AShorterLimitIsKept) {
  for (const std::string complaint :
       {"max_tokens is too large: 16384. This model supports at most 4096 completion tokens.",
        "max_tokens: 16384 > 4,096, which is the maximum allowed number of output tokens"}) {
    Quirks quirks;
    std::ignore = Learn(complaint, R"({"max_tokens":16384})", quirks);
    EXPECT_EQ(quirks.most_tokens, 4096) << complaint;
    EXPECT_TRUE(quirks.Accepts("max_tokens")) << complaint;
  }
}

TEST(LearnQuirk, StreamsAreAskedForAsTheServiceWants) {
  Quirks quirks;
  std::ignore = Learn("This model only support stream mode", R"({"stream":false})", quirks);
  EXPECT_EQ(quirks.stream, true);
  EXPECT_THAT(Learn("stream is not supported", R"({"stream":true})", quirks), IsEmpty())
      << "it would go to and fro";
  Quirks other;
  std::ignore =
      Learn("Unknown parameter: stream_options", R"({"stream":true,"stream_options":{}})", other);
  EXPECT_FALSE(other.Accepts("stream_options"));
  EXPECT_EQ(other.stream, std::nullopt);
  EXPECT_THAT(Learn("the upstream is down", R"({"stream":true})", other), IsEmpty());
}

TEST(LearnQuirk, SystemMessagesAndMarksOfTheCache) {
  Quirks quirks;
  std::ignore = Learn("messages[0].role does not support 'system' with this model",
                      R"({"messages":[{"content":"x","role":"system"}]})", quirks);
  EXPECT_TRUE(quirks.no_system);
  std::ignore = Learn("cache_control: extra inputs are not permitted",
                      R"({"messages":[{"cache_control":1}]})", quirks);
  EXPECT_FALSE(quirks.Accepts("cache_control"));
}

TEST(RoomForReply, IsWhatThePromptLeaves) {
  constexpr std::int64_t kAsked = 16384;
  const auto room = RoomForReply(
      "This model's maximum context length is 8192 tokens. However, you requested 19384 tokens "
      "(3000 in the messages, 16384 in the completion).",
      9000, kAsked);
  ASSERT_TRUE(room);
  EXPECT_GT(*room, 4000);
  EXPECT_LT(*room, 8192 - 9000 / 4);
  EXPECT_FALSE(RoomForReply("prompt is too long: 210000 tokens > 200000 maximum", 500000, kAsked));
  EXPECT_FALSE(RoomForReply("maximum context length is 4096 tokens", 12000, kAsked))
      << "too little is left for a kernel";
  EXPECT_FALSE(RoomForReply("temperature must be at most 2", 100, kAsked));
}

TEST(SaysTooLong, KnowsHowServicesSayIt) {
  for (const char* text :
       {"prompt is too long: 210000 tokens > 200000 maximum",
        "This model's maximum context length is 8192 tokens.",
        "the request exceeds the available context size (4096 tokens)",
        "Requested generation length 1024 is not possible! ... maximum supported sequence length",
        "input length and `max_tokens` exceed context limit: 198000 + 16384 > 200000"}) {
    EXPECT_TRUE(SaysTooLong(text)) << text;
  }
  EXPECT_FALSE(SaysTooLong("the moon is full"));
}

}  // namespace
}  // namespace pragma
