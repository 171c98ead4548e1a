#include "report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/profile.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/figures.h"
#include "report/html_page.h"
#include "report/roofs.h"
#include "report/run_text.h"
#include "report/terminal.h"
#include "report/text_pool.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

// So many attempts are unpacked together when one of them is looked at.
constexpr std::size_t kChunk = 50;
constexpr std::size_t kNoteColumns = 140;

// Foreign or older text: what cannot be parsed is an empty object, and the page says less.
Json Parsed(const std::string& text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() || value.is_array() ? value : Json::object();
}

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Only(const Json& object, const std::vector<const char*>& names) {
  Json chosen = Json::object();
  for (const char* name : names) {
    if (object.contains(name)) chosen[name] = object[name];
  }
  return chosen;
}

// [median, low, high], for many rows.
void SetInterval(Json& row, const char* name, const std::optional<Interval>& interval) {
  if (interval) row[name] = {interval->median, interval->low, interval->high};
}

std::string NoteOf(const Trial& trial) {
  const std::string& reason = trial.evaluation.reason;
  const bool failed = !trial.evaluation.passed() && !reason.empty();
  const std::string& text = failed ? reason : trial.advice ? trial.advice->change : std::string();
  return CutToWidth({}, SafeLine(text), kNoteColumns);
}

// What the tree, the curves and the table of attempts need; the rest is in a block.
Json RowOf(const Trial& trial) {
  Json row = {{"node", trial.node},
              {"parent", trial.parent},
              {"role", RoleName(trial.role)},
              {"author", trial.author},
              {"status", StatusName(trial.evaluation.status)},
              {"note", NoteOf(trial)},
              {"seconds", trial.spent.seconds},
              {"tokens", trial.spent.tokens()},
              {"usd", trial.spent.usd}};
  if (trial.best) row["best"] = true;
  const Evaluation& evaluation = trial.evaluation;
  SetInterval(row, "eager", evaluation.speedup_eager);
  SetInterval(row, "compile", evaluation.speedup_compile);
  if (evaluation.timing) SetInterval(row, "ms", evaluation.timing->ms);
  const std::string bottleneck = BottleneckOf(trial);
  if (!bottleneck.empty()) row["bottleneck"] = bottleneck;
  if (evaluation.prepacked) row["prepacked"] = true;
  if (trial.profile) row["profiled"] = true;
  return row;
}

// Metrics as [number of the kind, value]: thousands of profiles have the same kinds.
class MetricKinds final {
 public:
  Json Pack(const Profile& profile) {
    Json packed = Json::array();
    for (const Metric& metric : profile.metrics) {
      const auto [found, fresh] = numbers_.try_emplace(
          metric.tag + "\n" + metric.unit + "\n" + metric.source, kinds_.size());
      if (fresh) kinds_.push_back({metric.tag, metric.unit, metric.source});
      // Six digits are more than any of them is good for.
      const double value = std::strtod(fmt::format("{:.6g}", metric.value).c_str(), nullptr);
      packed.push_back({found->second, value});
    }
    return packed;
  }
  [[nodiscard]] const Json& kinds() const { return kinds_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json kinds_ = Json::array();
};

// Collects the parts of the page.
class RunPageWriter final {
 public:
  explicit RunPageWriter(const RunPage& page) : page_(page) {
    if (const Trial* best = page.tree.best()) {
      const std::vector<int> path = page.tree.PathTo(best->node);
      best_path_.insert(path.begin(), path.end());
      environment_ = Parsed(ToJson(best->evaluation))["environment"];
    }
  }

  PageContent Write() {
    PageContent content;
    content.title = page_.run.task_name + ": " + page_.run.strategy;
    AddTrials(content);
    Json head = Head();
    AddCalls(head, content);
    content.json = Dump(head);
    return content;
  }

 private:
  // Everything about one attempt; long texts through the pool.
  Json Details(const Trial& trial) {
    Json value = Parsed(ToJson(trial));
    if (trial.profile) value["profile"]["metrics"] = kinds_.Pack(*trial.profile);
    if (value["evaluation"]["environment"] == environment_)
      value["evaluation"].erase("environment");
    if (trial.candidate) {
      for (const auto& [name, text] : trial.candidate->files)
        value["candidate"]["files"][ToValidUtf8(name)] = sources_.Add(ToValidUtf8(text));
    }
    value["evaluation"]["log"] = sources_.Add(ToValidUtf8(trial.evaluation.log));
    const auto bundle = page_.bundles.find(trial.node);
    if (bundle != page_.bundles.end()) value["bundle"] = bundle->second;
    return value;
  }

  void AddTrials(PageContent& content) {
    const std::vector<Trial>& trials = page_.tree.trials();
    for (std::size_t begin = 0; begin < trials.size(); begin += kChunk) {
      Json chunk = Json::array();
      for (std::size_t i = begin; i < std::min(begin + kChunk, trials.size()); ++i)
        chunk.push_back(Details(trials[i]));
      content.blocks.push_back({fmt::format("trials-{}", begin / kChunk), Dump(chunk)});
    }
    content.blocks.push_back({"trial-lines", Dump(Json(sources_.lines()))});
  }

  // The calls as rows; the conversations that go in as a block.
  void AddCalls(Json& head, PageContent& content) {
    TextPool pool;
    Json rows = Json::array();
    Json conversations = Json::object();
    for (const CallRecord& call : page_.calls) {
      const Json completion = Parsed(call.completion_json);
      Json row = {{"node", call.node},
                  {"role", call.role},
                  {"ordinal", call.ordinal},
                  {"model", call.model}};
      for (const char* name : {"tokens_in", "tokens_out", "usd", "seconds", "truncated"})
        if (completion.contains(name)) row[name] = completion[name];
      const bool kept =
          page_.conversations == Conversations::kAll || best_path_.contains(call.node);
      if (kept) {
        conversations[std::to_string(rows.size())] = Conversation(call, completion, pool);
        row["kept"] = true;
      }
      rows.push_back(std::move(row));
    }
    head["calls"] = std::move(rows);
    content.blocks.push_back({"calls", Dump(conversations)});
    content.blocks.push_back({"call-lines", Dump(Json(pool.lines()))});
  }

  static Json Conversation(const CallRecord& call, const Json& completion, TextPool& pool) {
    const auto text_of = [](const Json& object, const char* name) {
      return object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                               : std::string();
    };
    Json conversation = Json::array();
    for (const Json& message : Parsed(call.prompt_json)) {
      conversation.push_back(
          {{"role", text_of(message, "role")}, {"text", pool.Add(text_of(message, "text"))}});
    }
    for (const char* part : {"reasoning", "text"}) {
      const std::string text = text_of(completion, part);
      if (text.empty()) continue;
      conversation.push_back(
          {{"role", part == std::string_view("text") ? "reply" : part}, {"text", pool.Add(text)}});
    }
    return conversation;
  }

  Json RunFacts() const {
    const RunRecord& run = page_.run;
    Json facts = {
        {"id", run.id},       {"task", run.task_name},  {"strategy", run.strategy},
        {"state", run.state}, {"stopped", run.stopped}, {"created", FormatUtc(run.created_ms)}};
    facts["settings"] = Only(Parsed(run.settings_json), {"preset", "budget", "models", "seed",
                                                         "machine", "advice_from_user", "options"});
    facts["final"] = run.final_json.empty() ? Json(nullptr) : Parsed(run.final_json);
    const auto bundle = page_.bundles.find(0);
    if (bundle != page_.bundles.end()) facts["bundle"] = bundle->second;
    return facts;
  }

  // Of the metrics that the page shows.
  Json Meanings() const {
    const Json settings = Parsed(page_.run.settings_json);
    if (!settings.contains("metric_meanings") || !settings["metric_meanings"].is_object())
      return Json::object();
    Json meanings = Json::object();
    for (const Json& kind : kinds_.kinds()) {
      const auto found = settings["metric_meanings"].find(kind[0].get<std::string>());
      if (found != settings["metric_meanings"].end()) meanings[found.key()] = *found;
    }
    return meanings;
  }

  Json RoofFacts() const {
    const Result<Task> task = TaskFromJson(page_.run.task_json);
    if (!task) return nullptr;
    std::optional<Roofs> roofs;
    for (const Trial& trial : page_.tree.trials()) {
      if (trial.profile && (!roofs || trial.best)) {
        if (auto better = RoofsFrom(*task, *trial.profile)) roofs = std::move(better);
      }
    }
    if (!roofs) return nullptr;
    Json facts = {
        {"gflops", roofs->gflops}, {"intensity", roofs->intensity}, {"bandwidth", Json::array()}};
    for (const BandwidthRoof& roof : roofs->bandwidth)
      facts["bandwidth"].push_back({{"level", roof.level}, {"gbs", roof.gbs}});
    return facts;
  }

  Json Head() const {
    Json head = {{"kind", "run"}, {"schema", kJsonSchema}, {"chunk", kChunk}};
    head["run"] = RunFacts();
    head["task"] = Only(Parsed(page_.run.task_json),
                        {"name", "sha256", "category", "lint", "source", "arguments", "outputs",
                         "flops", "compulsory_bytes", "notes"});
    head["environment"] = environment_;
    head["metrics"] = kinds_.kinds();
    head["meanings"] = Meanings();
    head["roofs"] = RoofFacts();
    head["full"] = page_.conversations == Conversations::kAll;
    head["trials"] = Json::array();
    for (const Trial& trial : page_.tree.trials()) head["trials"].push_back(RowOf(trial));
    const Trial* best = page_.tree.best();
    head["best"] = best == nullptr ? Json(nullptr) : Json(best->node);
    return head;
  }

  const RunPage& page_;
  std::set<int> best_path_;
  Json environment_;  // of the best; left out of attempts that were judged in the same
  MetricKinds kinds_;
  TextPool sources_;
};

}  // namespace

PageContent RunPageContent(const RunPage& page) { return RunPageWriter(page).Write(); }

}  // namespace pragma
