#include "store/trial_rows.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/json.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "store/content.h"
#include "store/database.h"

namespace pragma {
namespace {

// Returns the JSON of a trial without the parts that are stored in other columns.
std::string BareJson(const Trial& trial) {
  Trial bare = trial;
  bare.candidate.reset();
  bare.profile.reset();
  return ToJson(bare);
}

void BindProfile(Query& query, const Trial& trial) {
  if (trial.profile) {
    query.Bind(ToJson(*trial.profile));
  } else {
    query.BindNull();
  }
}

// Builds a trial from the columns candidate, json, profile.
Result<Trial> TrialFrom(Database& database, const Query& row) {
  Trial trial = TRY(TrialFromJson(row.Text(1)));
  if (!row.IsNull(0)) trial.candidate = TRY(GetCandidate(database, row.Text(0)));
  if (!row.IsNull(2)) trial.profile = TRY(ProfileFromJson(row.Text(2)));
  return trial;
}

}  // namespace

Result<bool> InsertTrial(Database& database, std::int64_t run, const Trial& trial) {
  const std::string candidate =
      trial.candidate ? TRY(PutCandidate(database, *trial.candidate)) : "";
  Query query = TRY(database.Prepare(
      "INSERT INTO trial (run, node, json, bottleneck, candidate, profile) VALUES (?, ?, ?, ?, ?, "
      "?)"));
  query.Bind(run).Bind(trial.node).Bind(BareJson(trial)).Bind(BottleneckOf(trial));
  if (trial.candidate) {
    query.Bind(candidate);
  } else {
    query.BindNull();
  }
  BindProfile(query, trial);
  const Result<void> inserted = query.Run();
  if (inserted) return true;
  if (database.constraint_failed()) return false;
  return std::unexpected(inserted.error());
}

Result<void> UpdateTrial(Database& database, std::int64_t run, const Trial& trial) {
  Query query = TRY(database.Prepare(
      "UPDATE trial SET json = ?, bottleneck = ?, profile = ? WHERE run = ? AND node = ?"));
  query.Bind(BareJson(trial)).Bind(BottleneckOf(trial));
  BindProfile(query, trial);
  return query.Bind(run).Bind(trial.node).Run();
}

Result<std::vector<Trial>> ReadTrials(Database& database, const std::string& id) {
  std::vector<Trial> trials;
  Query query = TRY(
      database.Prepare("SELECT candidate, json, profile FROM trial WHERE run = (SELECT number FROM "
                       "run WHERE id = ?) ORDER BY node"));
  query.Bind(id);
  while (TRY(query.Next())) trials.push_back(TRY(TrialFrom(database, query)));
  return trials;
}

Result<std::vector<TrialSummary>> ReadSummaries(Database& database, const std::string& id) {
  std::vector<TrialSummary> summaries;
  Query query =
      TRY(database.Prepare("SELECT json, bottleneck FROM trial WHERE run = (SELECT number FROM run "
                           "WHERE id = ?) ORDER BY node"));
  query.Bind(id);
  while (TRY(query.Next())) {
    summaries.push_back(Summarize(TRY(TrialFromJson(query.Text(0)))));
    summaries.back().bottleneck = query.Text(1);
  }
  return summaries;
}

Result<Trial> ReadTrial(Database& database, const std::string& id, int node) {
  Query query = TRY(
      database.Prepare("SELECT candidate, json, profile FROM trial WHERE run = (SELECT number FROM "
                       "run WHERE id = ?) AND node = ?"));
  if (TRY(query.Bind(id).Bind(node).Next())) return TrialFrom(database, query);
  return Fail(ErrorKind::kUsage, fmt::format("the run {} has no trial {}", id, node));
}

}  // namespace pragma
