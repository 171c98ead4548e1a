#include "http/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "tests/llm/fault_server.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HttpTest : public testing::Test {
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
  static HttpRequest Request(const std::string& scenario) {
    HttpRequest request;
    request.url = server->Url(scenario) + "/chat/completions";
    request.body = R"({"question": 1})";
    return request;
  }
  static FaultServer* server;
};
FaultServer* HttpTest::server = nullptr;

TEST_F(HttpTest, PostsBodyAndHeaders) {
  HttpRequest request = Request("echo");
  request.headers = {{"Authorization", "Bearer k"}};
  const auto response = HttpPost(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->content_type, "application/json");
  EXPECT_THAT(response->body, AllOf(HasSubstr("Bearer k"), HasSubstr("question"),
                                    HasSubstr(R"(\"content-type\": \"application/json\")")));
}

TEST_F(HttpTest, RetryAfterInSecondsAndAsDate) {
  const auto seconds = HttpPost(Request("busy"));
  ASSERT_TRUE(seconds);
  EXPECT_EQ(seconds->status, 429);
  EXPECT_EQ(seconds->retry_after, Seconds(7));
  const auto date = HttpPost(Request("busy_date"));
  ASSERT_TRUE(date && date->retry_after);
  EXPECT_NEAR(date->retry_after->count(), 30, 2);  // both clocks are rounded to whole seconds
}

TEST_F(HttpTest, CutOffBodyIsAnErrorWorthARetry) {
  const auto response = HttpPost(Request("cut_once"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("cannot reach http://127.0.0.1:"));
}

TEST_F(HttpTest, TimesOut) {
  HttpRequest request = Request("slow");
  request.total_timeout = Seconds(0.2);
  const auto response = HttpPost(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("within 200 ms"));
}

TEST_F(HttpTest, InterruptEndsTheWait) {
  SetInterruptedForTest(true);
  const auto response = HttpPost(Request("slow"));
  SetInterruptedForTest(false);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kInterrupted);
}

// On a busy machine the clock's request to stop may come before curl looks at the time again. The
// handlers and the flag are process-wide, so this runs in a process of its own.
TEST_F(HttpTest, TheClocksRequestToStopIsTimeThatIsUp) {
  const auto wait_until_stopped = [] {
    InstallInterruptHandlers();
    StopAt(After(Seconds{0.1}));
    const auto response = HttpPost(Request("slow"));
    std::_Exit(!response && response.error().kind == ErrorKind::kTimeUp ? 0 : 1);
  };
  EXPECT_EXIT(wait_until_stopped(), ::testing::ExitedWithCode(0), "");
}

TEST_F(HttpTest, CapsTheReply) {
  HttpRequest request = Request("huge");
  request.max_response_bytes = std::size_t{1} << 20U;
  const auto response = HttpPost(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kInternal);
  EXPECT_THAT(response.error().message, HasSubstr("larger than 1.00 MiB"));
}

TEST_F(HttpTest, DoesNotFollowRedirects) {
  const auto response = HttpPost(Request("redirect"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(response->location, "http://elsewhere.invalid/v1");
}

TEST_F(HttpTest, GetsPagesAndSaysWhereARedirectLeads) {
  const auto page = HttpGet({.url = server->Url("page"), .accept = "text/html"});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, "GET text/html");
  const auto moved = HttpGet({.url = server->Url("redirect"), .accept = "text/html"});
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->status, 302);
  EXPECT_EQ(moved->location, "http://user:pw@elsewhere.invalid/v1?token=1");
  const auto huge =
      HttpGet({.url = server->Url("huge"), .accept = "*/*", .max_response_bytes = 1000});
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().message, HasSubstr("larger than 1000 B"));
}

TEST(Http, ResolvesLinks) {
  const std::string page = "http://Host.example:8080/docs/a/b.html?q=1#x";
  EXPECT_EQ(ResolveUrl(page, "c.html"), "http://Host.example:8080/docs/a/c.html");
  EXPECT_EQ(ResolveUrl(page, "../c.html#part"), "http://Host.example:8080/docs/c.html");
  EXPECT_EQ(ResolveUrl(page, "#y"), "http://Host.example:8080/docs/a/b.html?q=1");
  EXPECT_EQ(ResolveUrl(page, ""), "http://Host.example:8080/docs/a/b.html?q=1");
  EXPECT_EQ(ResolveUrl(page, "/top"), "http://Host.example:8080/top");
  EXPECT_EQ(ResolveUrl(page, " //other.example/x "), "http://other.example/x");
  EXPECT_EQ(ResolveUrl(page, "https://other.example"), "https://other.example/");
  EXPECT_EQ(ResolveUrl(page, "mailto:me@host.example"), std::nullopt);
  EXPECT_EQ(ResolveUrl(page, "javascript:alert(1)"), std::nullopt);
  EXPECT_EQ(ResolveUrl(page, "file:///etc/passwd"), std::nullopt);
  EXPECT_EQ(ResolveUrl("no address", "http://["), std::nullopt);
}

TEST(Http, TakesAddressesApart) {
  const auto place = ParseUrlPlace("HTTPS://Host.Example/a/b?q=1#x");
  ASSERT_TRUE(place);
  EXPECT_EQ(*place, (UrlPlace{.scheme = "https",
                              .host = "host.example",
                              .port = "443",
                              .path = "/a/b",
                              .query = "q=1"}));
  EXPECT_EQ(ParseUrlPlace("http://host.example:81")->path, "/");
  EXPECT_EQ(ParseUrlPlace("http://host.example:81")->port, "81");
  EXPECT_FALSE(ParseUrlPlace("http://me:pw@host.example/"));
  EXPECT_FALSE(ParseUrlPlace("ftp://host.example/"));
  EXPECT_FALSE(ParseUrlPlace("man:perf"));
  EXPECT_FALSE(ParseUrlPlace(""));
}

TEST(Http, SaysWhatFailed) {
  const auto refused = HttpPost({.url = "http://127.0.0.1:1/v1", .headers = {}, .body = "{}"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("http://127.0.0.1:1/v1"));
  const auto scheme = HttpPost({.url = "file:///etc/passwd", .headers = {}, .body = "{}"});
  ASSERT_FALSE(scheme);
  EXPECT_EQ(scheme.error().kind, ErrorKind::kUsage);
}

TEST(Http, RefusesHeadersThatCouldSmuggleAnotherWithoutShowingThem) {
  const auto response = HttpPost(
      {.url = "http://127.0.0.1:1/", .headers = {{"Authorization", "secret\r\nX: y"}}, .body = ""});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(response.error().message,
              AllOf(HasSubstr("Authorization"), Not(HasSubstr("secret"))));
}

TEST(Http, ParsesRetryAfter) {
  EXPECT_EQ(ParseRetryAfter(" 120 ", 0), Seconds(120));
  EXPECT_EQ(ParseRetryAfter("0.5", 0), Seconds(0.5));
  EXPECT_EQ(ParseRetryAfter("-3", 0), Seconds(0));
  EXPECT_EQ(ParseRetryAfter("Fri, 31 Dec 1999 23:59:59 GMT", 946684790), Seconds(9));
  EXPECT_EQ(ParseRetryAfter("Fri, 31 Dec 1999 23:59:59 GMT", 946684900), Seconds(0));
  EXPECT_EQ(ParseRetryAfter("", 0), std::nullopt);
  EXPECT_EQ(ParseRetryAfter("soon", 0), std::nullopt);
  EXPECT_EQ(ParseRetryAfter("inf", 0), std::nullopt);
}

TEST(Http, HidesSecretsOfAddresses) {
  EXPECT_EQ(UrlForMessages("https://me:pw@host.example:8443/v1?key=abc#x"),
            "https://host.example:8443/v1");
  EXPECT_EQ(UrlForMessages("not an address me:pw@host"), "host");
}

TEST(Http, KnowsThisMachine) {
  EXPECT_TRUE(IsLoopbackUrl("http://localhost:11434/v1"));
  EXPECT_TRUE(IsLoopbackUrl("http://127.0.0.1:8000"));
  EXPECT_TRUE(IsLoopbackUrl("http://[::1]:8000"));
  EXPECT_FALSE(IsLoopbackUrl("http://127.evil.example/"));
  EXPECT_FALSE(IsLoopbackUrl("http://10.0.0.1/"));
}

}  // namespace
}  // namespace pragma
