#include "core/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;

std::string MessageOf(const JsonReader& reader) { return reader.status().error().message; }

TEST(JsonReader, ComplaintsNameTheWholePath) {
  constexpr std::string_view kText = R"({"a":{"b":[1,{"c":"x","d":[[],[2,"y"]]}]}})";
  const auto read = [&] { return JsonReader::Parse(kText, "thing").value(); };
  int number = 0;
  const JsonReader text = read();
  text["a"]["b"].items().at(1).Get("c", number);
  EXPECT_EQ(MessageOf(text), "thing: a.b[1].c: should be a whole number");
  const JsonReader item = read();
  item["a"]["b"].items()[1]["d"].items()[1].items()[1].Get(number);
  EXPECT_EQ(MessageOf(item), "thing: a.b[1].d[1][1]: should be a whole number");
  const JsonReader absent = read();
  absent["a"]["no"]["such"].Require("member", number);
  EXPECT_EQ(MessageOf(absent), "thing: a.no.such: member is missing");
  const JsonReader whole = read();
  whole.Complain("is wrong");
  whole["a"].Complain("is wrong too");
  EXPECT_EQ(MessageOf(whole), "thing: is wrong") << "only the first is kept";
  std::map<std::string, int> members;
  const JsonReader nested = read();
  nested.Get(members);
  EXPECT_EQ(MessageOf(nested), "thing: a: should be a whole number");
}

TEST(JsonReader, OfTwoMembersWithOneNameTheLastCounts) {
  const JsonReader reader = JsonReader::Parse(R"({"b":1,"a":{"x":1},"b":2})", "thing").value();
  int number = 0;
  reader.Get("b", number);
  EXPECT_EQ(number, 2);
  ASSERT_EQ(reader.members().size(), 2U);
  EXPECT_EQ(reader.members()[0].first, "a") << "by name";
  EXPECT_EQ(reader.Dump(), R"({"a":{"x":1},"b":2})");
}

TEST(JsonReader, DumpIsTheSameValueAgain) {
  constexpr std::string_view kText =
      R"({"a":[1,-2,0.1,1e+300,18446744073709551615,true,null,"\u00e9\n\u0000"],"b":{},"c":[]})";
  const JsonReader reader = JsonReader::Parse(kText, "thing").value();
  EXPECT_EQ(JsonReader::Parse(reader.Dump(), "again")->Dump(), reader.Dump());
  EXPECT_EQ(reader.Dump(),
            "{\"a\":[1,-2,0.1,1e+300,18446744073709551615,true,null,\"\xC3\xA9\\n"
            "\\u0000\"],\"b\":{},\"c\":[]}");
  EXPECT_EQ(reader["absent"].Dump(), "null");
}

TEST(JsonReader, NumbersKeepWhatTheyAre) {
  constexpr std::string_view kText = R"([9223372036854775807,18446744073709551615,1.0,-0.0])";
  const JsonReader reader = JsonReader::Parse(kText, "thing").value();
  const std::vector<JsonReader> items = reader.items();
  std::int64_t whole = 0;
  items[0].Get(whole);
  EXPECT_EQ(whole, std::numeric_limits<std::int64_t>::max());
  double real = 0;
  items[1].Get(real);
  EXPECT_EQ(real, 18446744073709551616.0);
  EXPECT_EQ(items[2].type(), JsonReader::Type::kReal);
  items[3].Get(real);
  EXPECT_TRUE(std::signbit(real));
  EXPECT_TRUE(reader.status());
  items[1].Get(whole);
  EXPECT_EQ(MessageOf(reader), "thing: [1]: should be a whole number");
}

TEST(JsonReader, WhatCannotBeReadIsSaid) {
  const auto message = [](const std::string& text) {
    return JsonReader::Parse(text, "thing").error().message;
  };
  EXPECT_EQ(message(R"({"a":1,})"), "thing is not JSON (at byte 8)");
  EXPECT_EQ(message(""), "thing is not JSON (at byte 1)");
  EXPECT_EQ(message("[1] 2"), "thing is not JSON (at byte 5)");
  EXPECT_THAT(message("1e999"), HasSubstr("not JSON that can be read"));
  EXPECT_THAT(message("123456789012345678901234567890"), HasSubstr("too many digits"));
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(JsonReader::Parse(nested(900), "thing"));
  EXPECT_THAT(message(nested(100'000)), HasSubstr("nested too deeply"));
}

TEST(JsonReader, AByteOrderMarkIsPassedOver) {
  EXPECT_TRUE(JsonReader::Parse("\xEF\xBB\xBF{}", "thing"));
}

}  // namespace
}  // namespace pragma
