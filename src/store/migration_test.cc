// Tests migrations of stores of earlier versions, which are made by the SQL of those versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "store/store.h"

// A missing value may end a test, so optionals are read unchecked.
// NOLINTBEGIN(bugprone-unchecked-optional-access)
namespace pragma {
namespace {

using ::testing::HasSubstr;

// The tables as version 1 wrote them. The text is kept here word for word, so that a change of
// schema.cc cannot hide a break.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE run (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, task_name TEXT NOT NULL,
  task_json TEXT NOT NULL, task_path TEXT NOT NULL, strategy TEXT NOT NULL,
  settings_json TEXT NOT NULL, state TEXT NOT NULL, stopped TEXT NOT NULL, final_json TEXT NOT NULL,
  created_ms INTEGER NOT NULL) STRICT;
CREATE TABLE call (number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (number),
  node INTEGER NOT NULL, role TEXT NOT NULL, ordinal INTEGER NOT NULL, model TEXT NOT NULL,
  prompt_json TEXT NOT NULL, completion_json TEXT NOT NULL, UNIQUE (run, node, role, ordinal)) STRICT;
CREATE TABLE trial (run INTEGER NOT NULL REFERENCES run (number), node INTEGER NOT NULL,
  json TEXT NOT NULL, PRIMARY KEY (run, node)) STRICT;
CREATE TABLE figure (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO run VALUES (1, 'r-old', 'relu', '{"name":"relu"}', 'relu.py', 'caesar', '{}', 'finished',
  'budget', '', 1700000000000);
INSERT INTO call VALUES (1, 1, 1, 'coder', 0, 'command:x', '[]', '{"text":"hello"}');
INSERT INTO trial VALUES (1, 1, '{"schema":1,"node":1,"parent":0,"role":"seed","author":"coder x",
  "candidate":{"language":"cpp","compiler":"g++","flags":["-O3"],"files":{"kernel.cpp":"int x;"}},
  "evaluation":{"status":"passed"},"best":true}');
INSERT INTO trial VALUES (1, 2, '{"schema":1,"node":2,"parent":1,"role":"improve",
  "candidate":null,"evaluation":{"status":"unsupported","reason":"no code"}}');
INSERT INTO figure VALUES ('machine', '{"cpu":"x"}');
PRAGMA user_version = 1;
)sql";

// The tables as version 2 wrote them, kept word for word as well. The id of the blob is the hash of
// its text.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE run (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, task_name TEXT NOT NULL,
  task_path TEXT NOT NULL, strategy TEXT NOT NULL, settings_json TEXT NOT NULL,
  state TEXT NOT NULL, stopped TEXT NOT NULL, final_json TEXT NOT NULL,
  created_ms INTEGER NOT NULL, task TEXT REFERENCES blob (sha256)) STRICT;
CREATE TABLE call (number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (number),
  node INTEGER NOT NULL, role TEXT NOT NULL, ordinal INTEGER NOT NULL, model TEXT NOT NULL,
  prompt_json TEXT NOT NULL, completion_json TEXT NOT NULL, UNIQUE (run, node, role, ordinal)) STRICT;
CREATE TABLE trial (run INTEGER NOT NULL REFERENCES run (number), node INTEGER NOT NULL,
  json TEXT NOT NULL, candidate TEXT REFERENCES candidate (id), PRIMARY KEY (run, node)) STRICT;
CREATE TABLE figure (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE blob (sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE candidate (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE candidate_file (candidate TEXT NOT NULL REFERENCES candidate (id), name TEXT NOT NULL,
  blob TEXT NOT NULL REFERENCES blob (sha256), PRIMARY KEY (candidate, name)) STRICT;
INSERT INTO blob VALUES ('b620bc7a26034890545a5ec8b8a0e08d7a328d30e37d9957d42dd6d5b0ff177e',
  CAST('{"name":"relu"}' AS BLOB));
INSERT INTO run VALUES (1, 'r-old', 'relu', 'relu.py', 'caesar', '{}', 'finished', 'budget', '',
  1700000000000, 'b620bc7a26034890545a5ec8b8a0e08d7a328d30e37d9957d42dd6d5b0ff177e');
INSERT INTO trial VALUES (1, 1, '{"schema":1,"node":1,"parent":0,"role":"seed","author":"coder x",
  "advice":null,"candidate":null,"evaluation":{"schema":1,"status":"passed"},"profile":{"schema":1,
  "metrics":[{"tag":"a.b","value":0.1,"unit":"bytes/call","source":"exact count"},
  {"tag":"c","value":null,"unit":"","source":""}],
  "diagnosis":[{"class":"gather","score":0.75,"evidence":["e"],"action":"a","line":3,
  "predicted_speedup":1.5},{"class":"tlb","score":0.1,"evidence":[],"action":"","line":0,
  "predicted_speedup":1.0}],"hot":[],"providers":[],"judgement":"better"},"best":true}', NULL);
INSERT INTO trial VALUES (1, 2, '{"schema":1,"node":2,"parent":1,"role":"improve",
  "candidate":null,"evaluation":{"status":"passed"},"profile":{"schema":1,"metrics":[],
  "diagnosis":[]}}', NULL);
INSERT INTO trial VALUES (1, 3, '{"schema":1,"node":3,"parent":1,"role":"improve",
  "candidate":null,"evaluation":{"status":"crashed"},"profile":null}', NULL);
PRAGMA user_version = 2;
)sql";

class MigrationTest : public ::testing::Test {
 protected:
  MigrationTest() : dir_(TempDir::Create().value()) {}
  [[nodiscard]] std::filesystem::path home() const { return dir_.path(); }
  void Write(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(::sqlite3_open((home() / "pragma.db").c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    ASSERT_EQ(::sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    ::sqlite3_close(handle);
  }

 private:
  TempDir dir_;
};

TEST_F(MigrationTest, Version1KeepsEverything) {
  Write(kVersion1);
  auto store = Store::Open(home());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->FindRun("r-old")->task_json, R"({"name":"relu"})");
  EXPECT_EQ(store->FindRun("last")->stopped, StopReason::kBudget);
  EXPECT_EQ(store->FindCall("r-old", 1, "coder", 0).value()->completion_json,
            R"({"text":"hello"})");
  EXPECT_EQ(store->GetFigure("machine").value(), R"({"cpu":"x"})");
  const auto trials = store->Trials("r-old");
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->size(), 2U);
  EXPECT_EQ(trials->at(0).candidate->source(), "int x;");
  EXPECT_EQ(trials->at(0).candidate->flags, std::vector<std::string>{"-O3"});
  EXPECT_TRUE(trials->at(0).best);
  EXPECT_EQ(trials->at(1).evaluation.reason, "no code");
  Trial next;
  next.node = 3;
  next.candidate = trials->at(0).candidate;
  EXPECT_TRUE(store->AppendTrial("r-old", next));
}

TEST_F(MigrationTest, Version2MovesProfilesAside) {
  Write(kVersion2);
  auto store = Store::Open(home());
  ASSERT_TRUE(store) << store.error().message;
  const auto trials = store->Trials("r-old");
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->size(), 3U);
  const Profile& profile = trials->at(0).profile.value();
  EXPECT_EQ(profile.Find("a.b")->value, 0.1);
  EXPECT_TRUE(std::isnan(profile.Find("c")->value));
  EXPECT_EQ(profile.diagnosis.at(0).evidence, std::vector<std::string>{"e"});
  EXPECT_EQ(profile.judgement, "better");
  EXPECT_TRUE(trials->at(1).profile) << "an empty one stays one";
  EXPECT_FALSE(trials->at(2).profile);
  const auto summaries = store->Summaries("r-old");
  ASSERT_TRUE(summaries) << summaries.error().message;
  EXPECT_EQ(summaries->at(0).bottleneck, "gather");
  EXPECT_EQ(summaries->at(1).bottleneck, "");
  EXPECT_EQ(summaries->at(2).bottleneck, "");
}

TEST_F(MigrationTest, ADamagedTrialOfVersion2IsLeftToItsReader) {
  Write(std::string(kVersion2) + "UPDATE trial SET json = 'damaged' WHERE node = 2;");
  const auto store = Store::Open(home());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_THAT(store->Trials("r-old").error().message, HasSubstr("not JSON"));
  EXPECT_TRUE(store->FindTrial("r-old", 1)) << "the others can be read";
}

TEST_F(MigrationTest, TwoProcessesAtOnce) {
  Write(kVersion1);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    const auto store = Store::Open(home());
    ::_exit(store && store->Trials("r-old")->size() == 2 ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(MigrationTest, AFailureLeavesTheOldStoreAsItWas) {
  Write(std::string(kVersion1) + "UPDATE trial SET json = 'damaged' WHERE node = 2;");
  const auto store = Store::Open(home());
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("not JSON"));
  Write("SELECT task_json FROM run");  // still version 1
  Write(R"(UPDATE trial SET json = '{"node":2,"evaluation":{"status":"crashed"}}' WHERE node = 2)");
  EXPECT_TRUE(Store::Open(home())) << "and can be migrated once repaired";
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
