// Tests bundles as texts and files: a written bundle can be read again, and an altered one cannot.
#include "evidence/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "core/evaluation.h"
#include "evidence/bundle_files.h"
#include "evidence/lineage.h"
#include "evidence/testing.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

// Returns a bundle that was changed and sealed again, as anyone can do.
std::string Forged(const std::function<void(Json&)>& change) {
  Json value = Json::parse(Seal(ExampleBundle()).text);
  value.erase("sha256");
  change(value);
  return SealObject(value.dump(-1, ' ', false, Json::error_handler_t::ignore)).text;
}

std::string Complaint(const std::string& text) {
  const auto opened = OpenBundle(text, "b.json");
  if (opened) return "";
  EXPECT_EQ(opened.error().kind, ErrorKind::kUsage);
  return opened.error().message;
}

TEST(BundleTest, WhatIsSealedIsOpenedAgainWithEveryPart) {
  const SealedBundle sealed = Seal(ExampleBundle());
  const auto opened = OpenBundle(sealed.text, "b.json");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->sha256, sealed.sha256);
  EXPECT_EQ(Seal(opened->bundle).text, sealed.text);
  EXPECT_EQ(opened->bundle.task_files, ExampleBundle().task_files);
  EXPECT_EQ(opened->bundle.evaluation.samples.size(), 2U);
  EXPECT_EQ(opened->bundle.lineage->ancestors[0].speedup_eager->high, 1.3);
}

// A bundle from before changed arguments were outputs is judged as it was then.
TEST(BundleTest, SaysWhetherChangedArgumentsWereOutputs) {
  Bundle bundle = ExampleBundle();
  bundle.options.judging.updates = true;
  const auto opened = OpenBundle(Seal(bundle).text, "b.json");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(opened->bundle.options.judging.updates);
  const auto old = OpenBundle(Forged([](Json& b) { b["options"].erase("updates"); }), "b.json");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_FALSE(old->bundle.options.judging.updates);
}

TEST(BundleTest, ACandidateThatNobodySearchedForHasNoLineage) {
  Bundle bundle = ExampleBundle();
  bundle.lineage.reset();
  bundle.against.reset();
  const auto opened = OpenBundle(Seal(bundle).text, "b.json");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_FALSE(opened->bundle.lineage);
  EXPECT_FALSE(opened->bundle.against);
}

TEST(BundleTest, TheHashIsThatOfTheTextWithoutTheSeal) {
  const SealedBundle sealed = Seal(ExampleBundle());
  const std::size_t seal = sealed.text.find(",\"sha256\":\"" + sealed.sha256);
  EXPECT_EQ(Sha256Hex(sealed.text.substr(0, seal) + "}"), sealed.sha256);
  EXPECT_EQ(sealed.text.size(), seal + 78);
}

TEST(BundleTest, EveryAlteredByteIsDetected) {
  const std::string text = Seal(ExampleBundle()).text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string altered = text;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    ASSERT_THAT(Complaint(altered), HasSubstr("altered")) << "byte " << i;
  }
}

TEST(BundleTest, MissingAndAddedBytesAreDetected) {
  const std::string text = Seal(ExampleBundle()).text;
  EXPECT_THAT(Complaint(text.substr(0, text.size() - 1)), HasSubstr("altered"));
  EXPECT_THAT(Complaint(text + "\n"), HasSubstr("altered"));
  EXPECT_THAT(Complaint(text.substr(1)), HasSubstr("altered"));
  EXPECT_THAT(Complaint(""), HasSubstr("not an evidence bundle"));
}

TEST(BundleTest, HoldsCandidatesForGpus) {
  for (const Language language : {Language::kCuda, Language::kTriton}) {
    Bundle bundle = ExampleBundle();
    bundle.candidate = CandidateIn(language, "a source");
    bundle.against = CandidateIn(language, "another");
    const auto opened = OpenBundle(Seal(bundle).text, "b.json");
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->bundle.candidate.language, language);
    bundle.against = CppCandidate("int x;\n");
    EXPECT_FALSE(OpenBundle(Seal(bundle).text, "b.json")) << "timed against another language";
    bundle.against.reset();
    bundle.candidate.compiler = "clang++";
    EXPECT_FALSE(OpenBundle(Seal(bundle).text, "b.json"));
  }
}

struct Forgery {
  std::string part;  // part of the bundle that the complaint names
  std::function<void(Json&)> change;
};

TEST(BundleTest, AForgedBundleThatContradictsItselfIsRefused) {
  const std::vector<Forgery> forgeries{
      {"candidate.id", [](Json& b) { b["candidate"]["files"]["kernel.cpp"] = "int z;\n"; }},
      {"candidate.id", [](Json& b) { b["candidate"]["flags"] = Json::array({"-O0"}); }},
      {"against.id", [](Json& b) { b["against"]["tunables"]["T"] = 3; }},
      {"task.sha256", [](Json& b) { b["task"]["source"] = "import os\n"; }},
      {"schema", [](Json& b) { b["schema"] = 2; }},
      {"schema", [](Json& b) { b["schema"] = 0; }},
      {"schema", [](Json& b) { b.erase("schema"); }},
      {"kind", [](Json& b) { b["kind"] = "pragma-run"; }},
      {"did not pass", [](Json& b) { b["evaluation"]["status"] = "wrong_values"; }},
      {"status", [](Json& b) { b["evaluation"]["status"] = "excellent"; }},
      {"seed", [](Json& b) { b["evaluation"]["seed"] = "zz"; }},
  };
  for (const Forgery& forgery : forgeries)
    EXPECT_THAT(Complaint(Forged(forgery.change)), HasSubstr(forgery.part));
}

TEST(BundleTest, ForeignNamesAndTypesAreRefused) {
  const std::vector<Forgery> forgeries{
      {"candidate.files",
       [](Json& b) { b["candidate"]["files"] = {{"../../etc/passwd", "int x;\n"}}; }},
      {"candidate.files", [](Json& b) { b["candidate"]["files"] = Json::object(); }},
      {"candidate.files", [](Json& b) { b["candidate"]["files"] = 7; }},
      {"candidate.compiler", [](Json& b) { b["candidate"]["compiler"] = "/tmp/evil"; }},
      {"candidate.language", [](Json& b) { b["candidate"]["language"] = "python"; }},
      {"task", [](Json& b) { b["task"] = "relu"; }},
      {"task.files", [](Json& b) { b["task"]["files"] = {{"../layers.py", ""}}; }},
      {"task.files", [](Json& b) { b["task"]["files"] = {{"/etc/cron.d/x", ""}}; }},
      {"task.files", [](Json& b) { b["task"]["files"] = {{"a//b", ""}}; }},
      {"files", [](Json& b) { b["task"]["files"] = {{"layers.py", 7}}; }},
      {"source is missing", [](Json& b) { b["task"].erase("source"); }},
      {"options.threads", [](Json& b) { b["options"]["threads"] = -1; }},
      {"options.threads", [](Json& b) { b["options"]["threads"] = 1e9; }},
      {"options.mode", [](Json& b) { b["options"]["mode"] = "lenient"; }},
      {"options.cache", [](Json& b) { b["options"]["cache"] = "hot"; }},
      {"options.run_limit_s", [](Json& b) { b["options"]["run_limit_s"] = -5; }},
      {"run_limit_s is missing", [](Json& b) { b["options"]["run_limit_s"] = nullptr; }},
      {"machine", [](Json& b) { b["machine"] = Json::array(); }},
      {"samples", [](Json& b) { b["samples"] = "many"; }},
      {"samples", [](Json& b) { b["samples"] = Json(std::vector<Json>(65, b["samples"][0])); }},
      {"seconds", [](Json& b) { b["samples"][0]["seconds"] = {"quick"}; }},
      {"lineage", [](Json& b) { b["lineage"] = 3; }},
      {"ci95", [](Json& b) { b["lineage"]["ancestors"][0]["speedup_eager"]["ci95"] = {1}; }},
      {"status", [](Json& b) { b["lineage"]["ancestors"][0]["status"] = "odd"; }},
  };
  for (const Forgery& forgery : forgeries)
    EXPECT_THAT(Complaint(Forged(forgery.change)), HasSubstr(forgery.part));
}

TEST(BundleTest, TextThatIsNoUtf8IsRefused) {
  std::string object = Seal(ExampleBundle()).text;
  object.resize(object.size() - 78);
  object.replace(object.find("relu"), 4, "re\xff\xfe");
  EXPECT_THAT(Complaint(SealObject(object + "}").text), HasSubstr("not JSON"));
}

TEST(BundleTest, WhatWouldCostMuchMemoryIsRefusedBeforeItIsParsed) {
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_THAT(Complaint(SealObject(deep).text), HasSubstr("nested"));
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 1'000'001; ++i) many += ",0";
  EXPECT_THAT(Complaint(SealObject(many + "]}").text), HasSubstr("too many values"));
  const std::string large = "{\"a\":\"" + std::string(kMaxBundleBytes, 'x') + "\"}";
  EXPECT_THAT(Complaint(SealObject(large).text), HasSubstr("too large"));
}

TEST(BundleTest, BracketsInsideTextsAreNoNesting) {
  Bundle bundle = ExampleBundle();
  bundle.task_source = std::string(1000, '[') + "\\\"" + std::string(1000, '{');
  EXPECT_TRUE(OpenBundle(Seal(bundle).text, "b.json"));
}

TEST(BundleFilesTest, ABundleIsKeptUnderItsHashAndFoundByItsBeginning) {
  const TempDir folder = TempDir::Create().value();
  const SealedBundle sealed = Seal(ExampleBundle());
  const auto path = KeepBundle(sealed, folder.path() / "evidence").value();
  EXPECT_EQ(path.filename(), sealed.sha256 + ".json");
  EXPECT_EQ(FindBundle(folder.path() / "evidence", sealed.sha256.substr(0, 6)).value(), path);
  EXPECT_EQ(LoadBundle(path).value().sha256, sealed.sha256);
  EXPECT_FALSE(FindBundle(folder.path() / "evidence", "0000000"));
  EXPECT_FALSE(FindBundle(folder.path() / "nowhere", sealed.sha256));
}

TEST(BundleFilesTest, AnAmbiguousBeginningIsRefused) {
  const TempDir folder = TempDir::Create().value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "abcd1.json", ""));
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "abcd2.json", ""));
  const auto found = FindBundle(folder.path(), "abcd");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("several"));
}

TEST(BundleFilesTest, OnlyFilesAreRead) {
  const TempDir folder = TempDir::Create().value();
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, folder.path(), folder.path() / "missing"}) {
    const auto opened = LoadBundle(path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::kUsage);
  }
}

TEST(BundleFilesTest, ABundleTooLargeToReadIsNotWritten) {
  Bundle bundle = ExampleBundle();
  bundle.evaluation.log = std::string(kMaxBundleBytes, 'x');
  const TempDir folder = TempDir::Create().value();
  EXPECT_FALSE(KeepBundle(Seal(bundle), folder.path()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LineageTest, OfModelsOnThisMachineOnlyTheKindIsKept) {
  EXPECT_EQ(WithoutPlace("coder command:sh /home/me/x"), "coder command");
  EXPECT_EQ(WithoutPlace("handoff:/home/me"), "handoff");
  EXPECT_EQ(WithoutPlace("coder openai:NAME"), "coder openai:NAME");
  EXPECT_EQ(WithoutPlace("coder openai:command:x"), "coder openai:command:x");
}

}  // namespace
}  // namespace pragma
