#include "knowledge/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "knowledge/cache.h"
#include "knowledge/embedding.h"
#include "knowledge/entry.h"

namespace pragma {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Entry Make(const std::string& id, EntryKind kind, const std::string& title,
           const std::string& summary) {
  return {.id = id,
          .kind = kind,
          .title = title,
          .targets = {"cpu"},
          .aliases = {},
          .summary = summary,
          .when = "w",
          .how = "h",
          .traps = "t",
          .effect = "e",
          .fragment = "",
          .classes = {},
          .related = {},
          .sources = {"s"}};
}

std::vector<Entry> Samples() {
  std::vector<Entry> entries{
      Make("metric.page_walks", EntryKind::kMetric, "Page walks", "Misses of the TLB."),
      Make("technique.huge_pages", EntryKind::kTechnique, "Huge pages",
           "Fewer entries of the TLB are needed; see page walks in passing."),
      Make("technique.tiling", EntryKind::kTechnique, "Tiling", "Keeps a block in the cache."),
      Make("error.nan", EntryKind::kError, "Not a number", "A division gave naïve results.")};
  entries[2].aliases = {"cache blocking", "loop tiling"};
  entries[2].targets = {"gpu", "cpu"};
  return entries;
}

class SearchTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = KnowledgeIndex::Make(entries);
    ASSERT_TRUE(made) << made.error().message;
    index = std::make_unique<KnowledgeIndex>(std::move(*made));
  }
  std::vector<std::string> Ids(const SearchRequest& request) {
    const auto hits = index->Search(request);
    EXPECT_TRUE(hits) << hits.error().message;
    std::vector<std::string> ids;
    for (const SearchHit& hit : hits.value_or(std::vector<SearchHit>{})) {
      ids.push_back(hit.entry->id);
    }
    return ids;
  }
  std::vector<Entry> entries = Samples();
  std::unique_ptr<KnowledgeIndex> index;
};

TEST_F(SearchTest, TitleWinsOverText) {
  EXPECT_THAT(Ids({.text = "page walks"}),
              ElementsAre("metric.page_walks", "technique.huge_pages"));
}

TEST_F(SearchTest, FindsAliasesIdsStemsSpellingsAndAccents) {
  EXPECT_THAT(Ids({.text = "blocking"}), ElementsAre("technique.tiling"));
  EXPECT_THAT(Ids({.text = "technique.tiling"}), Contains("technique.tiling"));
  EXPECT_EQ(Ids({.text = "page_walk"}).front(), "metric.page_walks");
  EXPECT_THAT(Ids({.text = "divisions"}), ElementsAre("error.nan"));
  EXPECT_THAT(Ids({.text = "naive"}), ElementsAre("error.nan"));
  EXPECT_THAT(Ids({.text = "NAÏVE"}), ElementsAre("error.nan"));
  EXPECT_THAT(Ids({.text = "til"}), ElementsAre("technique.tiling")) << "the beginning of a word";
}

TEST_F(SearchTest, Filters) {
  EXPECT_THAT(Ids({.text = "page walks", .kind = EntryKind::kTechnique}),
              ElementsAre("technique.huge_pages"));
  EXPECT_THAT(Ids({.text = "cache page", .target = "gpu"}), ElementsAre("technique.tiling"));
  EXPECT_EQ(Ids({.text = "page walks", .limit = 1}).size(), 1U);
}

TEST_F(SearchTest, NoTextBreaksTheQuestion) {
  const std::string nul("a\0b", 3);
  for (const std::string& text :
       {std::string("\""), std::string("'; DROP TABLE entry; --"), std::string("page AND"),
        std::string("NEAR("), std::string("title:*"), std::string("-x ^y (z"),
        std::string("\xff\xfe"), nul, std::string(), std::string("   "), std::string(100000, '"'),
        std::string(100000, 'a'), std::string("été 性能 🚀"), std::string("* OR *"),
        std::string("\"page\" NOT \"walks\"")}) {
    const auto hits = index->Search({.text = text});
    ASSERT_TRUE(hits) << text << ": " << hits.error().message;
  }
  EXPECT_EQ(Ids({.text = "\"page\" AND -walks:*"}).front(), "metric.page_walks");
  EXPECT_TRUE(Ids({.text = "--- ***"}).empty());
}

TEST(FuseRanks, SumsReciprocalRanks) {
  const std::vector<Entry> entries = Samples();
  const auto hits = FuseRanks({&entries[0], &entries[1]}, {&entries[1], &entries[2]});
  ASSERT_EQ(hits.size(), 3U);
  EXPECT_EQ(hits[0].entry, &entries[1]) << "second and first beats first alone";
  EXPECT_DOUBLE_EQ(hits[0].score, 1.0 / 62 + 1.0 / 61);
  EXPECT_EQ(hits[0].by_words, 2U);
  EXPECT_EQ(hits[0].by_meaning, 1U);
  EXPECT_EQ(hits[1].entry, &entries[0]);
  EXPECT_EQ(hits[1].by_meaning, 0U);
}

TEST_F(SearchTest, MeaningIsFusedWithWordsAndVectorsAreAskedForOnce) {
  auto home = TempDir::Create();
  ASSERT_TRUE(home);
  auto cache = KnowledgeCache::Open(home->path());
  ASSERT_TRUE(cache) << cache.error().message;
  std::vector<std::size_t> asked;
  // The only meaning that this embedder knows is whether a text is about numbers.
  const Embedder embedder{.name = "test", .embed = [&asked](const std::vector<std::string>& texts) {
                            asked.push_back(texts.size());
                            std::vector<Vector> vectors;
                            for (const std::string& text : texts) {
                              const bool number = text.find("umber") != std::string::npos ||
                                                  text.find("digits") != std::string::npos;
                              vectors.push_back(number ? Vector{1, 0} : Vector{0, 1});
                            }
                            return Result<std::vector<Vector>>(vectors);
                          }};
  const auto hits = index->Search({.text = "digits"}, embedder, *cache);
  ASSERT_TRUE(hits) << hits.error().message;
  ASSERT_FALSE(hits->empty());
  EXPECT_EQ(hits->front().entry->id, "error.nan") << "no word of it was asked for";
  EXPECT_EQ(hits->front().by_words, 0U);
  ASSERT_TRUE(index->Search({.text = "digits"}, embedder, *cache));
  EXPECT_THAT(asked, ElementsAre(5U)) << "four entries and the question, once";
}

TEST_F(SearchTest, AnEmbedderThatFailsIsAnError) {
  auto home = TempDir::Create();
  ASSERT_TRUE(home);
  auto cache = KnowledgeCache::Open(home->path());
  ASSERT_TRUE(cache);
  const Embedder broken{.name = "broken", .embed = [](const std::vector<std::string>&) {
                          return Result<std::vector<Vector>>(Fail("it is broken"));
                        }};
  const auto hits = index->Search({.text = "x"}, broken, *cache);
  ASSERT_FALSE(hits);
  EXPECT_THAT(hits.error().message, HasSubstr("it is broken"));
}

// Queries that a user would type, and the entry that should be near the top.
TEST(ShippedSearch, AnswersRealQuestions) {
  const auto compendium = LoadCompendium(PRAGMA_SOURCE_DIR "/knowledge");
  ASSERT_TRUE(compendium) << compendium.error().message;
  const auto index = KnowledgeIndex::Make(compendium->entries());
  ASSERT_TRUE(index) << index.error().message;
  const std::vector<std::pair<std::string, std::string>> questions{
      {"why is my loop not vectorized", "bottleneck.not_vectorised"},
      {"false sharing", "bottleneck.false_sharing"},
      {"vector share", "metric.vector_share"},
      {"bank conflicts shared memory", "bottleneck.bank_conflicts"},
      {"omp simd reduction", "technique.simd_reduction"},
      {"4k aliasing", "bottleneck.aliasing_4k"},
      {"instructions per cycle", "metric.ipc"}};
  for (const auto& [question, wanted] : questions) {
    const auto hits = index->Search({.text = question, .limit = 5});
    ASSERT_TRUE(hits);
    std::vector<std::string> ids;
    for (const SearchHit& hit : *hits) ids.push_back(hit.entry->id);
    EXPECT_THAT(ids, Contains(wanted)) << question;
  }
}

}  // namespace
}  // namespace pragma
