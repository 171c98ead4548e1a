#include "knowledge/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "knowledge/cache.h"
#include "tests/llm/fault_server.h"

namespace pragma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ServiceEmbedderTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto started = FaultServer::Start();
    ASSERT_TRUE(started) << started.error().message;
    server = new FaultServer(std::move(*started));
    ::setenv("OPENAI_API_KEY", "secret-key-123", 1);
  }
  static void TearDownTestSuite() {
    delete server;
    server = nullptr;
  }
  Result<std::vector<Vector>> Embed(const std::string& scenario,
                                    const std::vector<std::string>& texts) {
    EmbedderOptions options;
    options.service.base_url = server->Url(scenario);
    options.service.max_retries = 2;
    const Embedder embedder = TRY(MakeEmbedder("openai:fake", options, clock));
    return embedder.embed(texts);
  }
  static FaultServer* server;
  FakeClock clock;
};
FaultServer* ServiceEmbedderTest::server = nullptr;

TEST_F(ServiceEmbedderTest, VectorsComeBackInTheOrderOfTheTexts) {
  const auto vectors = Embed("embed", {"a", "four", "seven77"});
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_THAT(*vectors, ElementsAre(Vector{1, 1, 1}, Vector{4, 1, 1}, Vector{7, 1, 1}));
}

TEST_F(ServiceEmbedderTest, ManyTextsAreSeveralRequests) {
  const auto two = Embed("embed", std::vector<std::string>(100, "x"));
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->size(), 100U);
  EXPECT_EQ(two->back()[1], two->front()[1] + 1) << "64 and 36";
}

TEST_F(ServiceEmbedderTest, WaitsAsLongAsTheServiceAsks) {
  const auto vectors = Embed("embed_busy", {"a"});
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_GE(clock.slept(), 7);
}

TEST_F(ServiceEmbedderTest, RefusalsAreClearAndHideTheKey) {
  const auto refused = Embed("unauthorized", {"a"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("check OPENAI_API_KEY"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("secret-key-123")));
  const auto missing = Embed("missing", {"a"});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("answered 404: check the model's name"));
  const auto busy = Embed("always_503", {"a"});
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(busy.error().message, HasSubstr("gave up after 3 tries"));
}

TEST_F(ServiceEmbedderTest, WrongRepliesAreErrors) {
  const auto few = Embed("embed_few", {"a", "b"});
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().message, HasSubstr("1 instead of 2"));
  const auto page = Embed("html", {"a"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("no usable vectors"));
}

TEST(ParseVectors, RefusesWhatIsNone) {
  EXPECT_TRUE(ParseVectors(R"({"data": [{"embedding": [1, 2.5]}]})", 1));
  for (const char* text :
       {"", "[]", "{}", R"({"data": 3})", R"({"data": [3]})", R"({"data": [{"embedding": []}]})",
        R"({"data": [{"embedding": ["1"]}]})", R"({"data": [{"embedding": [1e999]}]})",
        R"({"data": [{"embedding": [1], "index": 7}]})"}) {
    EXPECT_FALSE(ParseVectors(text, 1)) << text;
  }
  EXPECT_FALSE(ParseVectors(
      R"({"data": [{"embedding": [1], "index": 0}, {"embedding": [1, 2], "index": 1}]})", 2));
  EXPECT_FALSE(ParseVectors(
      R"({"data": [{"embedding": [1], "index": 0}, {"embedding": [2], "index": 0}]})", 2));
}

TEST(Embedder, SpecsThatAreNoneAreToldWhatThereIs) {
  FakeClock clock;
  for (const char* spec : {"", "openai", "openai:", "magic:x", "local:"}) {
    const auto made = MakeEmbedder(spec, {}, clock);
    ASSERT_FALSE(made) << spec;
    EXPECT_EQ(made.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(made.error().message, HasSubstr("give openai:NAME or local:NAME"));
  }
}

TEST(Cosine, OfNullVectorsIsNought) {
  EXPECT_DOUBLE_EQ(Cosine({1, 0}, {2, 0}), 1);
  EXPECT_DOUBLE_EQ(Cosine({1, 0}, {0, 3}), 0);
  EXPECT_DOUBLE_EQ(Cosine({0, 0}, {1, 0}), 0);
}

// Uses the real script and interpreter. Only the library is replaced by a stub, because a test
// cannot download a model.
class LocalEmbedderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::Create();
    ASSERT_TRUE(made);
    folder = made->path();
    kept = std::make_unique<TempDir>(std::move(*made));
  }
  void Library(const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(folder / "sentence_transformers.py", text));
    // The test has its own interpreter, so that no installed library is found.
    ASSERT_TRUE(WriteFileAtomic(
        folder / "python", "#!/bin/sh\nPYTHONPATH=" + folder.string() + " exec python3 \"$@\"\n"));
    std::filesystem::permissions(folder / "python", std::filesystem::perms::owner_all);
  }
  Result<std::vector<Vector>> Embed(const std::vector<std::string>& texts) {
    FakeClock clock;
    EmbedderOptions options;
    options.python = folder / "python";
    options.script = PRAGMA_SOURCE_DIR "/python/pragma_embed.py";
    const Embedder embedder = TRY(MakeEmbedder("local:small", options, clock));
    return embedder.embed(texts);
  }
  std::filesystem::path folder;
  std::unique_ptr<TempDir> kept;
};

TEST_F(LocalEmbedderTest, SpeaksWithTheChild) {
  Library(
      "class SentenceTransformer:\n"
      "  def __init__(self, name):\n    print('loading', name)\n    assert name == 'small'\n"
      "  def encode(self, texts, **options):\n    return [[len(t), 1.0] for t in texts]\n");
  const auto vectors = Embed({"a", "ü🚀"});
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_THAT(*vectors, ElementsAre(Vector{1, 1}, Vector{2, 1}));
}

TEST_F(LocalEmbedderTest, AMissingLibraryIsOneLineThatSaysWhatToInstall) {
  Library("import no_such_library\n");
  const auto vectors = Embed({"a"});
  ASSERT_FALSE(vectors);
  EXPECT_EQ(vectors.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(vectors.error().message, HasSubstr("pip install sentence-transformers"));
  EXPECT_THAT(vectors.error().message, HasSubstr("no_such_library"));
  EXPECT_THAT(vectors.error().message, Not(HasSubstr("\n")));
}

TEST_F(LocalEmbedderTest, AModelThatDoesNotLoadIsToldToo) {
  Library("def SentenceTransformer(name):\n  raise OSError('no model ' + name)\n");
  const auto vectors = Embed({"a"});
  ASSERT_FALSE(vectors);
  EXPECT_THAT(vectors.error().message, HasSubstr("OSError: no model small"));
}

}  // namespace
}  // namespace pragma
