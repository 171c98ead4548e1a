#include "store/schema.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "core/json.h"
#include "core/trial.h"
#include "store/content.h"
#include "store/database.h"

namespace pragma {
namespace {

// Version 1 keeps everything inline, so a source that was tried again was stored again.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE run (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  task_name TEXT NOT NULL,
  task_json TEXT NOT NULL,
  task_path TEXT NOT NULL,
  strategy TEXT NOT NULL,
  settings_json TEXT NOT NULL,
  state TEXT NOT NULL,
  stopped TEXT NOT NULL,
  final_json TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE call (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (number),
  node INTEGER NOT NULL,
  role TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  model TEXT NOT NULL,
  prompt_json TEXT NOT NULL,
  completion_json TEXT NOT NULL,
  UNIQUE (run, node, role, ordinal)
) STRICT;
CREATE TABLE trial (
  run INTEGER NOT NULL REFERENCES run (number),
  node INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (run, node)
) STRICT;
CREATE TABLE figure (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
)sql";

// Version 2 stores tasks and candidates by content.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE blob (
  sha256 TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
CREATE TABLE candidate (
  id TEXT PRIMARY KEY,
  json TEXT NOT NULL
) STRICT;
CREATE TABLE candidate_file (
  candidate TEXT NOT NULL REFERENCES candidate (id),
  name TEXT NOT NULL,
  blob TEXT NOT NULL REFERENCES blob (sha256),
  PRIMARY KEY (candidate, name)
) STRICT;
ALTER TABLE run ADD COLUMN task TEXT REFERENCES blob (sha256);
ALTER TABLE trial ADD COLUMN candidate TEXT REFERENCES candidate (id);
)sql";

// Version 3 stores profiles, which are three quarters of a trial's JSON, apart from the data that
// lists of trials need. The profile column is the last one, so that SQLite need not read its pages.
// Text that is not JSON is left as it is, for its reader to report.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE trial ADD COLUMN bottleneck TEXT NOT NULL DEFAULT '';
ALTER TABLE trial ADD COLUMN profile TEXT;
UPDATE trial SET
  profile = json_extract(json, '$.profile'),
  bottleneck = coalesce(json_extract(json, '$.profile.diagnosis[0].class'), ''),
  json = json_set(json, '$.profile', NULL)
WHERE json_valid(json) AND json_type(json, '$.profile') = 'object';
)sql";

constexpr std::int64_t kManyTrials = 30'000;  // from this number on, migration takes more than a
                                              // second or two

struct Row {
  std::int64_t run = 0;
  std::int64_t node = 0;
  std::string text;
};

Result<std::vector<Row>> Rows(Database& database, const char* sql) {
  std::vector<Row> rows;
  Query query = TRY(database.Prepare(sql));
  while (TRY(query.Next())) rows.push_back({query.Int(0), query.Int(1), query.Text(2)});
  return rows;
}

Result<void> MoveTasks(Database& database) {
  for (const Row& row : TRY(Rows(database, "SELECT number, 0, task_json FROM run"))) {
    const std::string sha256 = TRY(PutBlob(database, row.text));
    Query query = TRY(database.Prepare("UPDATE run SET task = ? WHERE number = ?"));
    TRY(query.Bind(sha256).Bind(row.run).Run());
  }
  return database.Execute("ALTER TABLE run DROP COLUMN task_json");
}

Result<void> MoveCandidates(Database& database) {
  for (const Row& row : TRY(Rows(database, "SELECT run, node, json FROM trial"))) {
    Trial trial = TRY(TrialFromJson(row.text));
    if (!trial.candidate) continue;
    const std::string id = TRY(PutCandidate(database, *trial.candidate));
    trial.candidate.reset();
    const std::string json = ToJson(trial);
    Query query = TRY(
        database.Prepare("UPDATE trial SET candidate = ?, json = ? WHERE run = ? AND node = ?"));
    TRY(query.Bind(id).Bind(json).Bind(row.run).Bind(row.node).Run());
  }
  return {};
}

Result<std::int64_t> TrialCount(Database& database) {
  Query query = TRY(database.Prepare("SELECT count(*) FROM trial"));
  TRY(query.Next());
  return query.Int(0);
}

Result<void> ToVersion1(Database& database) { return database.Execute(kVersion1); }

Result<void> ToVersion2(Database& database) {
  TRY(database.Execute(kVersion2));
  TRY(MoveTasks(database));
  return MoveCandidates(database);
}

// Migrates the trials, at about 50 us per trial.
Result<void> ToVersion3(Database& database) {
  const std::int64_t trials = TRY(TrialCount(database));
  if (trials >= kManyTrials)
    Log(LogLevel::kInfo,
        fmt::format("migrating a store of {} trials: this happens once and may take minutes",
                    trials));
  return database.Execute(kVersion3);
}

// kSteps[v] migrates from version v to v + 1.
using Step = Result<void> (*)(Database&);
constexpr std::array<Step, kStoreVersion> kSteps{ToVersion1, ToVersion2, ToVersion3};

Result<std::int64_t> Version(Database& database) {
  Query query = TRY(database.Prepare("PRAGMA user_version"));
  TRY(query.Next());
  return query.Int(0);
}

}  // namespace

Result<void> Migrate(Database& database, const std::string& name) {
  if (TRY(Version(database)) == kStoreVersion) return {};
  Transaction transaction = TRY(Transaction::Begin(database));
  const std::int64_t version = TRY(Version(database));  // another process may have migrated first
  if (version > kStoreVersion || version < 0) {
    return Fail(ErrorKind::kUsage,
                "the store " + name + " was written by a newer pragma (version " +
                    std::to_string(version) + ", this one reads up to " +
                    std::to_string(kStoreVersion) + "); use that pragma, or choose another --home");
  }
  for (auto at = static_cast<std::size_t>(version); at < kSteps.size(); ++at) {
    TRY(kSteps.at(at)(database));
  }
  const std::string mark = "PRAGMA user_version = " + std::to_string(kStoreVersion);
  TRY(database.Execute(mark));
  return transaction.Commit();
}

}  // namespace pragma
