#include "report/json_text.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "core/candidate.h"
#include "core/enum_names.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/json_dump.h"
#include "core/search_tree.h"
#include "core/task.h"
#include "core/trial.h"
#include "store/store.h"

namespace pragma {
namespace {

// Keeps the order of writing, because people read these objects too.
using Json = nlohmann::ordered_json;

// This is our own text, so a failure to parse it is shown and not hidden: the text becomes a
// string.
Json Parsed(const std::string& text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? Json(ToValidUtf8(text)) : value;
}

Json SpentJson(const Spent& spent) {
  return {{"seconds", spent.seconds},
          {"tokens", spent.tokens()},
          {"tokens_in", spent.tokens_in},
          {"tokens_out", spent.tokens_out},
          {"usd", spent.usd},
          {"tokens_cached", spent.tokens_cached},
          {"usd_saved", spent.usd_saved}};
}

Json RunJson(const RunRecord& run) {
  Json value = {{"run", run.id},
                {"task", run.task_name},
                {"task_path", run.task_path},
                {"strategy", run.strategy},
                {"state", run.state},
                {"stopped", EnumName(run.stopped)},
                {"created", FormatUtc(run.created_ms)}};
  value["final"] = run.final_json.empty() ? Json(nullptr) : Parsed(run.final_json);
  return value;
}

}  // namespace

std::string EvaluateObject(const Task& task, const Candidate& candidate,
                           const Evaluation& evaluation, const std::string& bundle) {
  Json value = {{"schema", kJsonSchema}};
  value["task"] = {{"name", task.name},
                   {"sha256", task.sha256},
                   {"category", task.category},
                   {"lint", task.lint}};
  value["candidate"] = {{"id", candidate.id()},
                        {"language", LanguageName(candidate.language)},
                        {"compiler", candidate.compiler},
                        {"flags", candidate.flags},
                        {"tunables", Json::object()}};
  for (const auto& [name, chosen] : candidate.tunables) {
    value["candidate"]["tunables"][name] = chosen;
  }
  const Json figures = Parsed(ToJson(evaluation));
  for (const auto& [name, figure] : figures.items()) value[name] = figure;
  if (!bundle.empty()) value["bundle"] = bundle;
  return Dump(value);
}

std::string RepeatedObject(const std::string& shown, const std::vector<std::string>& runs) {
  Json value = Parsed(shown);
  value["runs"] = Json::array();
  for (const std::string& run : runs) value["runs"].push_back(Parsed(run));
  return Dump(value);
}

std::string EvaluationsObject(const std::vector<std::string>& evaluations) {
  Json value = {{"schema", kJsonSchema}, {"evaluations", Json::array()}};
  for (const std::string& evaluation : evaluations) {
    value["evaluations"].push_back(Parsed(evaluation));
  }
  return Dump(value);
}

Json IslandsJson(const IslandRows& rows) {
  Json value = {{"left", rows.left}, {"parts", Json::array()}};
  for (const IslandRow& row : rows.islands) {
    Json part = {{"name", row.name},        {"run", row.run},         {"operators", row.operators},
                 {"time_share", row.share}, {"outcome", row.outcome}, {"speedup", nullptr}};
    if (row.speedup)
      part["speedup"] = {{"median", row.speedup->median},
                         {"ci95", {row.speedup->low, row.speedup->high}}};
    value["parts"].push_back(std::move(part));
  }
  return value;
}

std::string OptimizeObject(const OptimizeSummary& summary) {
  Json value = {{"schema", kJsonSchema}, {"run", summary.run}};
  value["best"] = summary.best.empty() ? Json(nullptr) : Parsed(summary.best);
  value["attempts"] = summary.attempts;
  value["stopped"] = EnumName(summary.stopped);
  if (!summary.why.empty()) value["why"] = summary.why;
  value["spent"] = SpentJson(summary.spent);
  if (!summary.left_out.empty()) value["left_out"] = summary.left_out;
  value["exported"] = summary.exported;
  value["bundle"] = summary.bundle.empty() ? Json(nullptr) : Json(summary.bundle);
  if (summary.islands) value["islands"] = IslandsJson(*summary.islands);
  return Dump(value);
}

std::string ShowObject(const RunRecord& run, const SearchTree& tree, const CallCounts& calls,
                       const BundleNames& bundles) {
  const auto bundle_of = [&bundles](int node) {
    const auto found = bundles.find(node);
    return found == bundles.end() ? Json(nullptr) : Json(found->second);
  };
  Json value = {{"schema", kJsonSchema}};
  const Json record = RunJson(run);
  for (const auto& [name, field] : record.items()) value[name] = field;
  value["settings"] = run.settings_json.empty() ? Json(nullptr) : Parsed(run.settings_json);
  value["signature"] = tree.Signature();
  value["calls"] = {{"asked", calls.asked}, {"reused", calls.reused}};
  value["best"] = tree.best() == nullptr ? Json(nullptr) : Json(tree.best()->node);
  value["trials"] = Json::array();
  for (const Trial& trial : tree.trials()) {
    Json shown = Parsed(ToJson(trial));
    shown["bundle"] = bundle_of(trial.node);
    value["trials"].push_back(std::move(shown));
  }
  value["bundle"] = bundle_of(0);
  return Dump(value);
}

std::string RunsObject(const std::vector<RunRecord>& runs) {
  Json value = {{"schema", kJsonSchema}, {"runs", Json::array()}};
  for (const RunRecord& run : runs) value["runs"].push_back(RunJson(run));
  return Dump(value);
}

std::string ReplayObject(const ReplaySummary& summary) {
  return Dump(Json{{"schema", kJsonSchema},
                   {"run", summary.run},
                   {"attempts", summary.attempts},
                   {"stopped", EnumName(summary.stopped)},
                   {"signature", summary.signature},
                   {"same_tree", summary.same_tree},
                   {"calls", {{"asked", 0}, {"reused", summary.reused}}}});
}

std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return "usage";
    case ErrorKind::kTask: return "task";
    case ErrorKind::kInternal: return "internal";
    case ErrorKind::kUnavailable: return "unavailable";
    case ErrorKind::kInterrupted: return "interrupted";
    case ErrorKind::kTooLong: return "too_long";
    case ErrorKind::kTimeUp: return "time_up";
  }
  return "internal";
}

std::string FailureObject(const Error& error) {
  return Dump(Json{{"schema", kJsonSchema},
                   {"failure", {{"kind", ErrorKindName(error.kind)}, {"message", error.message}}}});
}

std::string TaskErrorObject(const std::string& task, const Error& error) {
  return Dump(Json{{"schema", kJsonSchema},
                   {"task", {{"name", task}}},
                   {"status", StatusName(Status::kTaskError)},
                   {"reason", error.message},
                   {"failure", {{"kind", ErrorKindName(error.kind)}, {"message", error.message}}}});
}

}  // namespace pragma
