#include "llm/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <expected>
#include <string>
#include <utility>

#include "base/file.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PromptTest : public testing::Test {
 protected:
  PromptTest() : folder_(std::move(*TempDir::Create())) {
    EXPECT_TRUE(MakeDirectories(folder_.path() / "partials"));
  }
  [[nodiscard]] Result<std::string> Render(const std::string& text, const PromptData& data) const {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / "p.mustache", text));
    auto library = PromptLibrary::Load(folder_.path());
    if (!library) return std::unexpected(library.error());
    return library->Render("p", data);
  }
  TempDir folder_;
};

TEST_F(PromptTest, RendersTextsFlagsListsAndPartials) {
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "partials/sign.mustache", "-- {{name}}\n"));
  const auto text = Render(
      "Hi {{name}}{{#yes}}!{{/yes}}{{^no}}?{{/no}}\n{{#items}}\n* {{item}} of "
      "{{name}}\n{{/items}}\n{{> sign}}\n",
      {.texts = {{"name", "A & <B>"}},
       .flags = {{"yes", true}, {"no", false}},
       .lists = {{"items", {{.texts = {{"item", "1"}}}, {.texts = {{"item", "2"}}}}}}});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "Hi A & <B>!?\n* 1 of A & <B>\n* 2 of A & <B>\n-- A & <B>\n");
}

TEST_F(PromptTest, TagLinesLeaveNoEmptyLines) {
  const std::string text = "a\n{{#yes}}\n\nshown\n{{/yes}}\n{{#no}}\n\nhidden\n{{/no}}\n\nb\n";
  const PromptData data{.texts = {}, .flags = {{"yes", true}, {"no", false}}, .lists = {}};
  EXPECT_EQ(Render(text, data).value_or(""), "a\n\nshown\n\nb\n");
}

TEST_F(PromptTest, ValuesAreNotTemplates) {
  const auto text = Render("{{{code}}}", {.texts = {{"code", "{{name}} {{#x}} }}"}}});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "{{name}} {{#x}} }}\n");
}

TEST_F(PromptTest, UnknownNamesAreErrors) {
  for (const char* text :
       {"{{nmae}}", "{{#nmae}}x{{/nmae}}", "{{^nmae}}x{{/nmae}}", "{{{nmae}}}"}) {
    const auto rendered = Render(text, {.texts = {{"name", "x"}}});
    ASSERT_FALSE(rendered) << text;
    EXPECT_THAT(rendered.error().message, AllOf(HasSubstr("p.mustache"), HasSubstr("nmae")));
  }
  const auto partial = Render("{{> nmae}}", {});
  ASSERT_FALSE(partial);
  EXPECT_THAT(partial.error().message, HasSubstr("> nmae"));
}

TEST_F(PromptTest, BrokenTemplatesAreErrors) {
  EXPECT_FALSE(Render("{{#a}}never closed", {.flags = {{"a", true}}}));
  EXPECT_FALSE(Render("{{a", {}));
  EXPECT_FALSE(PromptLibrary::Load(folder_.path() / "partials"));
  EXPECT_FALSE(PromptLibrary::Load("/nowhere"));
  const auto library = PromptLibrary::Load(folder_.path());
  ASSERT_TRUE(library);
  EXPECT_FALSE(library->Render("other", {}));
}

}  // namespace
}  // namespace pragma
