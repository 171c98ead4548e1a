#include "knowledge/crawl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "knowledge/document.h"
#include "knowledge/page_text.h"
#include "knowledge/robots.h"
#include "tests/llm/fault_server.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(HtmlToText, KeepsWhatAReaderSees) {
  const auto page = HtmlToText(
      "<title>A &amp; B</title><h1>Top</h1><p>One\n  line, <b>two</b> words &lt;3 caf&eacute;"
      "<p>next<ul><li>a<li>b</ul><pre>x {\n  y\n}</pre><script>bad()</script>"
      "<table><tr><td>1<td>2<tr><td>3<td>4</table><nav>menu <a href='n.html'>n</a></nav>"
      "<a href=' x.html '>x</a><a href='x.html'>again</a>");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->title, "A & B");
  EXPECT_THAT(page->text, AllOf(HasSubstr("# Top\n"), HasSubstr("One line, two words <3 café\n"),
                                HasSubstr("- a\n"), HasSubstr("- b\n"), HasSubstr("x {\n  y\n}"),
                                HasSubstr("1 | 2\n3 | 4")));
  EXPECT_THAT(page->text, AllOf(Not(HasSubstr("bad()")), Not(HasSubstr("menu"))));
  EXPECT_THAT(page->links, ElementsAre("n.html", "x.html"));
}

TEST(HtmlToText, TakesAnyBytes) {
  for (const std::string& html :
       {std::string(), std::string("<"), std::string("\xff\xfe<p>\x80"), std::string("<p>a\0b", 6),
        std::string("<!--"), std::string("<a href=\"") + std::string(100000, 'x'),
        std::string(200000, '<'), std::string("</p></p></div>")}) {
    const auto page = HtmlToText(html);
    ASSERT_TRUE(page) << html.substr(0, 20);
    EXPECT_EQ(ToValidUtf8(page->text), page->text);
  }
  EXPECT_THAT(HtmlToText(std::string("<p>a\0b", 6))->text, HasSubstr("ab"));
}

TEST(HtmlToText, ReadsOtherCharsets) {
  EXPECT_THAT(HtmlToText("<p>caf\xe9", "ISO-8859-1")->text, HasSubstr("café"));
  EXPECT_THAT(HtmlToText("<p>\x93quoted\x94", "windows-1252")->text, HasSubstr("“quoted”"));
}

TEST(HtmlToText, RefusesWhatCostsTooMuch) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<div>";
  const auto page = HtmlToText(deep);
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("nested too deeply"));
  EXPECT_FALSE(HtmlToText(std::string(9U << 20U, 'a')));
  std::string flat = "<ul>";
  for (int i = 0; i < 5000; ++i) flat += "<li>item<p>text";
  EXPECT_TRUE(HtmlToText(flat)) << "list items without an end are no nesting";
}

TEST(CleanText, MakesForeignTextFitForAPrompt) {
  EXPECT_EQ(CleanText("a\r\nb \t\n\n\n\nc", "x"), "a\nb\n\nc\n");
  EXPECT_EQ(CleanText("N\bNA\bAM\bME\bE _\bx \x1b[1mbold\x1b[0m", "x"), "NAME x bold\n");
  EXPECT_EQ(CleanText("\u00e9\b\u00e9t\u00e9 \u2022\b+", "x"), "été +\n");
  const auto binary = CleanText(std::string("\x7f"
                                            "ELF\x02\x01\x00\x00\x00\x03",
                                            10),
                                "a.out");
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(binary.error().message, HasSubstr("a.out looks like no text"));
  std::string latin(300, 'a');
  for (std::size_t i = 0; i < latin.size(); i += 3) latin[i] = '\xe9';
  EXPECT_FALSE(CleanText(latin, "x"));
  EXPECT_EQ(CleanText(std::string(200, 'a') + std::string(1, '\0') + "b", "x"),
            std::string(200, 'a') + "b\n");
}

TEST(Robots, TheLongestRuleDecides) {
  const Robots robots = ParseRobots(
      "# a comment\nUser-agent: bad\nDisallow: /\n\nUser-Agent: *\nDisallow: /a # why\n"
      "Allow: /a/b\nDisallow: /*.pdf$\nDisallow:\nCrawl-delay: 2.5\n");
  EXPECT_TRUE(robots.Allows("/"));
  EXPECT_FALSE(robots.Allows("/a/x"));
  EXPECT_TRUE(robots.Allows("/a/b/c"));
  EXPECT_FALSE(robots.Allows("/x/y.pdf"));
  EXPECT_TRUE(robots.Allows("/x/y.pdf.html"));
  EXPECT_EQ(robots.delay, Seconds(2.5));
}

TEST(Robots, AGroupForUsWinsOverThatForAll) {
  const Robots robots = ParseRobots(
      "User-agent: *\nDisallow: /\n\nUser-agent: x\nUser-agent: PRAGMA\nDisallow: /no\n");
  EXPECT_TRUE(robots.Allows("/yes"));
  EXPECT_FALSE(robots.Allows("/no"));
  EXPECT_TRUE(ParseRobots("").Allows("/"));
  EXPECT_TRUE(ParseRobots("\xff\x00 : :\nDisallow: /").Allows("/")) << "belongs to no robot";
}

TEST(Crawl, FolderOfARoot) {
  EXPECT_EQ(FolderOf("/docs/a.html"), "/docs/");
  EXPECT_EQ(FolderOf("/docs/"), "/docs/");
  EXPECT_EQ(FolderOf("/docs"), "/docs/");
  EXPECT_EQ(FolderOf("/"), "/");
}

class CrawlTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = FaultServer::Start("/tests/knowledge/doc_server.py");
    ASSERT_TRUE(started) << started.error().message;
    server = std::make_unique<FaultServer>(std::move(*started));
  }
  Result<Crawled> Run(const std::string& path, const CrawlLimits& limits = {.pause = Seconds(3)}) {
    return Crawl(server->Url(path), limits, clock, {});
  }
  // Returns the last components of the documents' addresses.
  static std::vector<std::string> Names(const Crawled& crawled) {
    std::vector<std::string> names;
    for (const Document& document : crawled.documents) {
      names.push_back(document.name.substr(document.name.find('/', 7)));
    }
    return names;
  }
  std::vector<std::string> Log() {
    const auto log = HttpGet({.url = server->Url("log"), .accept = "*/*"});
    return log ? SplitLines(log->body) : std::vector<std::string>{};
  }
  std::unique_ptr<FaultServer> server;
  FakeClock clock;
};

TEST_F(CrawlTest, FollowsLinksInsideThePathBreadthFirst) {
  const auto crawled = Run("docs/");
  ASSERT_TRUE(crawled) << crawled.error().message;
  EXPECT_THAT(Names(*crawled),
              ElementsAre("/docs/", "/docs/one.html", "/docs/two.html", "/docs/target.html",
                          "/docs/busy.html", "/docs/deep/three.html"));
  EXPECT_THAT(crawled->documents.front().text,
              AllOf(HasSubstr("# The guide"), HasSubstr("Caches have lines of 64"),
                    HasSubstr("& more"), Not(HasSubstr("not text"))));
  EXPECT_THAT(crawled->documents[1].text, HasSubstr("for (;;) {\n  wait();\n}"));
  EXPECT_THAT(crawled->notes, AllOf(Contains(HasSubstr("gone.html answered 404")),
                                    Contains(AllOf(HasSubstr("moved-out.html leads elsewhere"),
                                                   HasSubstr("outside of /docs/"))),
                                    Contains(HasSubstr("secret.html is not for robots")),
                                    Contains(HasSubstr("picture.png is image/png"))));
  EXPECT_EQ(crawled->notes.size(), 4U);
}

TEST_F(CrawlTest, AsksForNothingElseAndForNothingTwice) {
  ASSERT_TRUE(Run("docs/"));
  std::vector<std::string> log = Log();
  EXPECT_THAT(log, AllOf(Contains("/robots.txt"), Not(Contains("/other/away.html")),
                         Not(Contains("/docs/private/secret.html")),
                         Not(Contains("/docs/deep/four.html"))));
  std::erase(log, "/docs/busy.html");
  std::ranges::sort(log);
  EXPECT_EQ(std::ranges::adjacent_find(log), log.end());
  EXPECT_GE(clock.slept(), 3 * (static_cast<double>(log.size()) - 1)) << "a pause between requests";
}

TEST_F(CrawlTest, DepthAndPageLimitsHold) {
  const auto root = Run("docs/", {.depth = 0, .pause = Seconds(0)});
  ASSERT_TRUE(root);
  EXPECT_THAT(Names(*root), ElementsAre("/docs/"));
  const auto four = Run("docs/", {.depth = 9, .pause = Seconds(0)});
  ASSERT_TRUE(four);
  EXPECT_THAT(Names(*four), Contains("/docs/deep/four.html"));
}

TEST_F(CrawlTest, APageLimitIsToldOf) {
  const auto some = Run("endless/", {.depth = 100, .pages = 5, .pause = Seconds(0)});
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_EQ(some->documents.size(), 5U);
  EXPECT_THAT(some->notes, Contains(HasSubstr("the limit is 5")));
}

TEST_F(CrawlTest, ARootThatFailsIsTheError) {
  for (const auto& [path, message] :
       {std::pair("gone/", "answered 404"), std::pair("empty/", "holds no text"),
        std::pair("away", "leads elsewhere"), std::pair("loop/a", "outside of")}) {
    const auto crawled = Run(path, {.pause = Seconds(0)});
    ASSERT_FALSE(crawled) << path;
    EXPECT_EQ(crawled.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(crawled.error().message, HasSubstr(message));
  }
  EXPECT_TRUE(Run("docs", {.depth = 0, .pause = Seconds(0)})) << "a folder without its slash";
  const auto refused = Crawl("http://127.0.0.1:1/x/", {}, clock, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_FALSE(Crawl("http://me:pw@127.0.0.1/", {}, clock, {}));
}

TEST_F(CrawlTest, PlainTextIsReadAsItIs) {
  const auto crawled = Run("plain/text.txt", {.pause = Seconds(0)});
  ASSERT_TRUE(crawled) << crawled.error().message;
  EXPECT_THAT(crawled->documents.front().text, HasSubstr("a < b & c."));
}

TEST_F(CrawlTest, AnInterruptEndsIt) {
  clock.on_sleep = [] { SetInterruptedForTest(true); };
  const auto crawled = Run("docs/");
  SetInterruptedForTest(false);
  ASSERT_FALSE(crawled);
  EXPECT_EQ(crawled.error().kind, ErrorKind::kInterrupted);
}

}  // namespace
}  // namespace pragma
