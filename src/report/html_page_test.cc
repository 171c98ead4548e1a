#include "report/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

PageAssets Assets() {
  return {.page =
              "<meta content=\"{{{policy}}}\"><title>{{title}}</title><style>{{{style}}}</style>"
              "<data>{{{data}}}</data>{{#blocks}}<b id=\"{{id}}\">{{{packed}}}</b>{{/blocks}}"
              "{{#scripts}}<script>{{{text}}}</script>{{/scripts}}",
          .style = "p { color: red; }",
          .scripts = {"let a = '{{title}}';", "a < b && c;"}};
}

TEST(HtmlPage, PolicyNamesExactlyItsOwnScriptsAndStyle) {
  const std::string page = RenderPage(Assets(), {.title = "t", .json = "{}"});
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-" +
                              Sha256Base64("let a = '{{title}}';") + "' 'sha256-" +
                              Sha256Base64("a < b && c;") + "'; style-src 'sha256-" +
                              Sha256Base64("p { color: red; }") + "'"));
  EXPECT_THAT(page, HasSubstr("<script>let a = '{{title}}';</script>"));
}

TEST(HtmlPage, DataCannotEndItsElement) {
  const std::string page = RenderPage(
      Assets(), {.title = "</title><script>", .json = R"({"a":"</data><script>{{title}}&"})"});
  EXPECT_THAT(page, HasSubstr(R"({"a":"\u003c/data\u003e\u003cscript\u003e{{title}}\u0026"})"));
  EXPECT_THAT(page, HasSubstr("<title>&lt;/title&gt;&lt;script&gt;</title>"));
}

TEST(HtmlPage, LineSeparatorsOfJavaScriptAreEscaped) {
  EXPECT_EQ(ScriptSafeJson("\"\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA\""),
            "\"\\u2028\\u2029\xE2\x80\xAA\"");
}

TEST(HtmlPage, BlocksArePackedInAnAlphabetWithoutMarkup) {
  const std::string page = RenderPage(
      Assets(), {.title = "t", .json = "{}", .blocks = {{.id = "x", .json = "[\"</script>\"]"}}});
  EXPECT_THAT(page, HasSubstr("<b id=\"x\">H4sI"));  // beginning of gzip data in base64
  EXPECT_THAT(page, Not(HasSubstr("[\"</script>\"]")));
}

class PageAssetsTest : public ::testing::Test {
 protected:
  PageAssetsTest() : folder_(TempDir::Create().value()) {
    fs::copy(fs::path(PRAGMA_SOURCE_DIR) / "report", parts(), fs::copy_options::recursive);
    for (const char* library : {"d3.min.js", "diff.js"}) Put(library, "// library\n");
  }
  [[nodiscard]] fs::path parts() const { return folder_.path() / "report"; }
  void Put(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(parts() / name, text));
  }
  [[nodiscard]] Result<PageAssets> Load() const {
    return LoadPageAssets({.parts = parts(), .libraries = {folder_.path() / "no", parts()}});
  }

 private:
  TempDir folder_;
};

TEST_F(PageAssetsTest, AreFoundInTheFirstFolderThatHasThem) {
  const Result<PageAssets> assets = Load();
  ASSERT_TRUE(assets) << assets.error().message;
  EXPECT_EQ(assets->scripts.front(), "// library\n");
}

TEST_F(PageAssetsTest, AMissingLibraryIsNamedWithItsPackages) {
  fs::remove(parts() / "diff.js");
  EXPECT_THAT(Load().error().message, HasSubstr("diff.js"));
  EXPECT_THAT(Load().error().message, HasSubstr("node-diff"));
  EXPECT_EQ(Load().error().kind, ErrorKind::kUnavailable);
}

TEST_F(PageAssetsTest, AScriptThatWouldEndItsElementIsRefused) {
  Put("d3.min.js", "let a = '</script>';");
  EXPECT_THAT(Load().error().message, HasSubstr("</script"));
}

}  // namespace
}  // namespace pragma
