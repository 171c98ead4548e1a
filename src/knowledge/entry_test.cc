#include "knowledge/entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "knowledge/metrics_testing.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Entry Sample() {
  return {.id = "metric.ipc",
          .kind = EntryKind::kMetric,
          .title = "Instructions per cycle",
          .targets = {"cpu", "x86"},
          .aliases = {"IPC"},
          .summary = "How busy the core is.",
          .when = "Always.",
          .how = "instructions / cycles",
          .traps = "High is not \"good\": C:\\ \t and a quote.",
          .effect = "Read it beside vector share.",
          .fragment = "",
          .classes = {},
          .related = {},
          .sources = {"pragma: measured (a test)"}};
}

// Returns the sample's text with `what` replaced by `by`.
std::string Changed(const std::string& what, const std::string& by) {
  Entry entry = Sample();
  entry.traps = "none";
  std::string text = EntriesToToml({entry});
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string ProblemOf(std::string_view text) {
  const auto entries = ParseEntries(text, "file.toml");
  if (entries) return "";
  EXPECT_EQ(entries.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(SplitLines(entries.error().message).size(), 1U);
  return entries.error().message;
}

TEST(Entry, ComesBackFromTomlAsItWas) {
  Entry entry = Sample();
  entry.traps = "a \"quote\", a \\, an ü";
  entry.fragment = "\nint x = 1;\n\tauto s = \"\"\"\\n\"\"\";\n";
  Entry plain = Sample();
  plain.id = "metric.other";
  plain.traps = "none";
  const auto again = ParseEntries(EntriesToToml({entry, plain}), "round");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(*again, ElementsAre(entry, plain));
}

TEST(Entry, ErrorsNameFileEntryAndField) {
  EXPECT_EQ(ProblemOf(Changed("summary = \"How busy the core is.\"\n", "")),
            "file.toml: metric.ipc: summary: missing or empty");
  EXPECT_EQ(ProblemOf(Changed("aliases = [\"IPC\"]", "aliases = \"IPC\"")),
            "file.toml: metric.ipc: aliases: must be a list of texts");
  EXPECT_EQ(ProblemOf(Changed("classes = []\n", "")),
            "file.toml: metric.ipc: classes: missing or empty");
  EXPECT_EQ(ProblemOf(Changed("title =", "titel =")),
            "file.toml: metric.ipc: titel: is not a known field; did you mean title?");
  EXPECT_EQ(ProblemOf(Changed("\"metric.ipc\"", "\"bottleneck.ipc\"")),
            "file.toml: bottleneck.ipc: id: must begin with \"metric.\", as its kind");
  EXPECT_EQ(ProblemOf(Changed("\"metric.ipc\"", "\"metric.IPC\"")),
            "file.toml: metric.IPC: id: the part after \"metric.\" must be lower-case letters, "
            "digits and _");
  EXPECT_EQ(ProblemOf(Changed("kind = \"metric\"", "kind = \"gauge\"")),
            "file.toml: metric.ipc: kind: must be metric, bottleneck, technique or error");
  EXPECT_EQ(ProblemOf(Changed("\"x86\"", "\"z80\"")),
            "file.toml: metric.ipc: targets: \"z80\" is none of cpu, x86, arm, gpu, triton, cuda");
  EXPECT_EQ(ProblemOf(Changed("id = \"metric.ipc\"\n", "")),
            "file.toml: entry 1: id: must begin with \"metric.\", as its kind");
  EXPECT_EQ(ProblemOf(Changed("sources = [\"pragma: measured (a test)\"]", "sources = []")),
            "file.toml: metric.ipc: sources: missing or empty");
  EXPECT_EQ(ProblemOf(Changed("\"How busy", "\"\\u001b[31mHow busy")),
            "file.toml: metric.ipc: summary: must be one line of UTF-8 text without control "
            "characters");
}

TEST(Entry, ForeignTextIsAnErrorNeverACrash) {
  EXPECT_THAT(ProblemOf("[[entry]]\nid = "), HasSubstr("file.toml: line 2: "));
  EXPECT_THAT(ProblemOf("x = 1\n"), HasSubstr("only [[entry]] tables are expected"));
  EXPECT_THAT(ProblemOf("entry = 3\n"), HasSubstr("holds no [[entry]]"));
  EXPECT_THAT(ProblemOf("entry = [3]\n"), HasSubstr("entry 1 is not a table"));
  EXPECT_THAT(ProblemOf(""), HasSubstr("holds no [[entry]]"));
  EXPECT_THAT(ProblemOf("\xff\xfe\x00"), HasSubstr("is not UTF-8 text"));
  EXPECT_NE(ProblemOf(std::string(100000, '[')), "");
  EXPECT_NE(ProblemOf("a = " + std::string(100000, '[')), "");
}

TEST(Compendium, RefusesDuplicatesAndLinksThatLeadNowhere) {
  Entry entry = Sample();
  const auto twice = Compendium::Make({entry, entry}, {{"metric.ipc", "b.toml"}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "b.toml: metric.ipc: id: another entry has it too");
  entry.related = {"metric.ipcc"};
  const auto dangling = Compendium::Make({entry}, {{"metric.ipc", "b.toml"}});
  ASSERT_FALSE(dangling);
  EXPECT_EQ(
      dangling.error().message,
      "b.toml: metric.ipc: related: there is no entry metric.ipcc; the nearest is metric.ipc");
  entry.related = {};
  entry.classes = {"front_end"};
  const auto classless = Compendium::Make({entry}, {});
  ASSERT_FALSE(classless);
  EXPECT_EQ(classless.error().message,
            "metric.ipc: classes: there is no entry bottleneck.front_end");
}

TEST(Compendium, LoadNamesTheBadFile) {
  auto folder = TempDir::Create();
  ASSERT_TRUE(folder);
  for (const char* name : {"metrics", "bottlenecks", "techniques", "errors", "diagnosis"}) {
    ASSERT_TRUE(MakeDirectories(folder->path() / name));
  }
  const auto empty = LoadCompendium(folder->path());
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("has no entries"));
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "metrics/a.toml", Changed("", "")));
  // A folder of another component holds no entries and is not read.
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "diagnosis/rules.toml", "x = 1"));
  ASSERT_TRUE(LoadCompendium(folder->path()));
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "errors/b.toml", Changed("title", "titles")));
  const auto bad = LoadCompendium(folder->path());
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, AllOf(HasSubstr("errors/b.toml: metric.ipc: titles")));
  const auto none = LoadCompendium(folder->path() / "none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUnavailable);
}

class Shipped : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    loaded = new Result<Compendium>(LoadCompendium(PRAGMA_SOURCE_DIR "/knowledge"));
  }
  static void TearDownTestSuite() {
    delete loaded;
    loaded = nullptr;
  }
  void SetUp() override { ASSERT_TRUE(*loaded) << loaded->error().message; }
  static const Compendium& Whole() { return **loaded; }
  static Result<Compendium>* loaded;
};
Result<Compendium>* Shipped::loaded = nullptr;

// Returns the words in code spans of `text`.
std::vector<std::string> CodeWords(const std::string& text) {
  std::vector<std::string> words;
  const std::vector<std::string> parts = Split(text, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) words.push_back(parts[i]);
  return words;
}

std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find(to, begin + 1) - begin);
}

std::string Document(const char* name) {
  return ReadFile(std::filesystem::path(PRAGMA_SOURCE_DIR "/docs") / name).value_or("");
}

TEST_F(Shipped, HoldsEnough) {
  EXPECT_GE(Whole().entries().size(), 150U);
  for (const EntryKind kind :
       {EntryKind::kMetric, EntryKind::kBottleneck, EntryKind::kTechnique, EntryKind::kError}) {
    EXPECT_GE(std::ranges::count(Whole().entries(), kind, &Entry::kind), 30) << EntryKindName(kind);
  }
}

TEST_F(Shipped, EveryDiagnosisClassHasAnEntry) {
  const std::string classes = Between(Document("design.md"), "Diagnosis classes (ids", "\n## 12");
  const std::vector<std::string> cpu = CodeWords(Between(classes, "CPU:", "GPU:"));
  const std::vector<std::string> gpu = CodeWords(classes.substr(classes.find("GPU:")));
  EXPECT_GE(cpu.size(), 27U);
  EXPECT_GE(gpu.size(), 19U);
  for (const std::string& id : cpu) EXPECT_NE(Whole().ForClass(id, false), nullptr) << id;
  for (const std::string& id : gpu) {
    const Entry* entry = Whole().ForClass(id, true);
    ASSERT_NE(entry, nullptr) << id;
    EXPECT_TRUE(std::ranges::count(entry->targets, "gpu") == 1) << entry->id;
  }
}

// The tags of accelerators and of whole programs are explained by the adapters that count them.
TEST_F(Shipped, EveryTagOfAProfileIsExplained) {
  const auto elsewhere = [](std::string_view tag) {
    return tag.starts_with("gpu_") || tag.starts_with("npu_") || tag.starts_with("program_");
  };
  std::vector<std::string> tags = ShippedMetrics().tags();
  std::erase_if(tags, elsewhere);
  EXPECT_GE(tags.size(), 90U);
  for (const std::string& tag : tags) EXPECT_NE(Whole().ForMetric(tag), nullptr) << tag;
}

TEST_F(Shipped, FindsNothingForWhatIsNotThereAndNamesTheNearest) {
  EXPECT_EQ(Whole().Find("metric.vectorshare"), nullptr);
  EXPECT_EQ(Whole().ForMetric("no_such_tag"), nullptr);
  EXPECT_EQ(Whole().ForClass("no_such_class", true), nullptr);
  EXPECT_EQ(Whole().Near("metric.vectorshare", 1), std::vector<std::string>{"metric.vector_share"});
  EXPECT_LE(Whole().Near("share", 3).size(), 3U);
  EXPECT_TRUE(Whole().Near("", 3).empty());
}

TEST_F(Shipped, OneClassOfTwoMachinesHasTwoEntries) {
  ASSERT_NE(Whole().ForClass("spills", true), nullptr);
  EXPECT_EQ(Whole().ForClass("spills", true)->id, "bottleneck.gpu_spills");
  EXPECT_EQ(Whole().ForClass("spills", false)->id, "bottleneck.spills");
}

}  // namespace
}  // namespace pragma
