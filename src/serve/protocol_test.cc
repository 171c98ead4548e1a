#include "serve/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "app/judge.h"
#include "base/result.h"
#include "core/status.h"
#include "evidence/sealed_bundle.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRequest =
    R"({"task":{"path":"/t.py"},"candidate":{"files":{"kernel.cpp":"int x;"}},"threads":2})";

std::string Complaint(const std::string& line) {
  const auto request = ParseServeRequest(line);
  return request ? "" : request.error().message;
}

std::string KeyOf(const std::string& request) {
  return ParseServeRequest(RequestLine({.request = request, .folder = "/"})).value().key;
}

TEST(ServeRequest, ComesBackAsItWasSent) {
  const ServeRequest sent{.request = kRequest,
                          .folder = "/folder",
                          .evidence = Evidence::kYes,
                          .terminal = {.color = true, .unicode = false, .width = 77},
                          .key = {}};
  const ServeRequest got = ParseServeRequest(RequestLine(sent)).value();
  EXPECT_THAT(got.request, HasSubstr(R"("kernel.cpp":"int x;")"));
  EXPECT_EQ(got.folder, "/folder");
  EXPECT_EQ(got.evidence, Evidence::kYes);
  EXPECT_TRUE(got.terminal.color);
  EXPECT_FALSE(got.terminal.unicode);
  EXPECT_EQ(got.terminal.width, 77U);
}

TEST(ServeRequest, TheKeyIsOfTaskAndSettingsAndNotOfTheCandidate) {
  const std::string key = KeyOf(kRequest);
  EXPECT_EQ(key, KeyOf(R"({"threads":2,"candidate":{"path":"/k.cpp"},"measure":"nothing",
                           "repeat":3,"task":{"path":"/t.py"}})"));
  EXPECT_NE(key, KeyOf(R"({"task":{"path":"/t.py"},"threads":1,"candidate":{}})"));
  EXPECT_NE(key, KeyOf(R"({"task":{"path":"/u.py"},"threads":2,"candidate":{}})"));
  EXPECT_NE(key, KeyOf(R"({"task":{"path":"/t.py"},"threads":2,"mode":"official"})"));
}

TEST(ServeRequest, NonsenseIsRefusedInOneLine) {
  EXPECT_THAT(Complaint(""), HasSubstr("is not a JSON object"));
  EXPECT_THAT(Complaint("{"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(Complaint("[1]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(Complaint("\xff\xfe"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(Complaint("{}"), HasSubstr("schema"));
  EXPECT_THAT(Complaint(R"({"schema":2,"evaluate":{}})"), HasSubstr("schema"));
  EXPECT_THAT(Complaint(R"({"schema":1})"), HasSubstr("\"evaluate\""));
  EXPECT_THAT(Complaint(R"({"schema":1,"evaluate":[]})"), HasSubstr("\"evaluate\""));
  EXPECT_THAT(Complaint(R"({"schema":1,"evaluate":{},"folder":"here"})"), HasSubstr("absolute"));
}

TEST(ServeRequest, DeepNestingIsRefusedWithoutUsingUpTheStack) {
  const std::string deep = std::string(2'000'000, '[') + std::string(2'000'000, ']');
  EXPECT_THAT(Complaint(R"({"schema":1,"evaluate":{"task":)" + deep + "}}"), HasSubstr("deeply"));
}

TEST(ServeRequest, WrongTypesOfWhatIsOptionalLeaveTheDefaults) {
  const ServeRequest got = ParseServeRequest(R"({"schema":1,"evaluate":{},"evidence":"yes",
      "terminal":{"width":-1,"color":3}})")
                               .value();
  EXPECT_EQ(got.evidence, Evidence::kNo);
  EXPECT_EQ(got.terminal.width, 0U);
  EXPECT_FALSE(got.terminal.color);
}

TEST(ServeReply, AResultComesBackWithTheSameObject) {
  const std::string object = R"({"schema":1,"status":"wrong_values","a":1.5,"Z":[1,2],"b":"\n"})";
  const ServeReply got = ParseReply(ResultLine({.object = object,
                                                .status = Status::kWrongValues,
                                                .text = "two\nlines",
                                                .bundle = {}}))
                             .value();
  EXPECT_EQ(got.verdict.object, object);
  EXPECT_EQ(got.verdict.status, Status::kWrongValues);
  EXPECT_EQ(got.verdict.text, "two\nlines");
  EXPECT_FALSE(got.verdict.bundle);
}

TEST(ServeReply, ABundleKeepsItsName) {
  const SealedBundle bundle{.text = "{}\n", .sha256 = "abc"};
  const ServeReply got = ParseReply(ResultLine({.object = R"({"status":"passed","bundle":"abc"})",
                                                .status = Status::kPassed,
                                                .text = {},
                                                .bundle = bundle}))
                             .value();
  ASSERT_TRUE(got.verdict.bundle);
  EXPECT_EQ(got.verdict.bundle->text, bundle.text);
  EXPECT_EQ(got.verdict.bundle->sha256, bundle.sha256);
}

TEST(ServeReply, ErrorsKeepTheirKind) {
  for (const ErrorKind kind : {ErrorKind::kUsage, ErrorKind::kTask, ErrorKind::kInternal,
                               ErrorKind::kUnavailable, ErrorKind::kInterrupted}) {
    const ServeReply got = ParseReply(FailureLine({.kind = kind, .message = "why"})).value();
    EXPECT_EQ(got.error.kind, kind);
    EXPECT_EQ(got.error.message, "why");
  }
}

TEST(ServeReply, ForeignBytesAreReplacedNotFatal) {
  const ServeReply got = ParseReply(LogLine("a\xff\nb")).value();
  EXPECT_THAT(got.text, HasSubstr("b"));
  EXPECT_FALSE(ParseReply(R"({"schema":1,"message":"sing"})"));
  EXPECT_FALSE(ParseReply(R"({"schema":1,"message":"result"})"));
  EXPECT_FALSE(ParseReply(R"({"schema":1,"message":"failure","failure":3})"));
}

TEST(ServeIdentity, SaysWhatDiffers) {
  const ServeIdentity ours{.version = "1",
                           .program = "p",
                           .home = "/a",
                           .python = "py",
                           .search_path = "/bin",
                           .processors = "0"};
  EXPECT_EQ(ours.Difference(ParseHello(HelloLine(ours)).value()), "");
  ServeIdentity other = ours;
  other.home = "/b";
  EXPECT_THAT(ours.Difference(other), HasSubstr("/b, not /a"));
  other = ours;
  other.version = "2";
  EXPECT_THAT(ours.Difference(other), HasSubstr("is pragma 2"));
  other = ours;
  other.processors = "0,1";
  EXPECT_THAT(ours.Difference(other), HasSubstr("0,1"));
}

}  // namespace
}  // namespace pragma
