#include "report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "core/enum_names.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/json_dump.h"
#include "core/profile.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/figures.h"
#include "report/html_page.h"
#include "report/roofs.h"
#include "report/run_text.h"
#include "report/terminal.h"
#include "report/text_pool.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

// Number of attempts that are decompressed together when one of them is viewed.
constexpr std::size_t kChunk = 50;
constexpr std::size_t kNoteColumns = 90;
// In a longer run, attempts that did not lead to the best are shortened: of long prose only the
// beginning and the end are kept, figures have four digits, and of the timing only the comparisons
// are kept.
constexpr std::size_t kWholeRun = 200;
constexpr std::size_t kShortProse = 240;
// A shorter text takes less space in place than in the pool.
constexpr std::size_t kShortText = 12;

// Parses untrusted or older text. What cannot be parsed becomes an empty object, and the page shows
// less.
Json ObjectIn(const std::string& text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() || value.is_array() ? value : Json::object();
}

// Digits of figures: more than any figure here is accurate to, and enough for an overview.
constexpr int kDigits = 6;
constexpr int kFewDigits = 4;

double Rounded(double value, int digits = kDigits) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

// Returns a text as "@first,count,first,count,..." by the lines of the pool. Every text of the page
// that begins with "@" is in this form.
std::string Pooled(TextPool& pool, const std::string& text) {
  std::string runs;
  for (const std::uint32_t number : pool.Add(ToValidUtf8(text)))
    runs += (runs.empty() ? '@' : ',') + std::to_string(number);
  return runs;
}

// Makes a value smaller: texts go to the pool, and figures are rounded to `digits` digits.
void Shrink(Json& value, TextPool& pool, int digits = kDigits) {
  if (value.is_number_float()) {
    value = Rounded(value.get<double>(), digits);
  } else if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text.size() > kShortText || text.starts_with('@')) value = Pooled(pool, text);
  } else if (value.is_structured()) {
    for (Json& item : value) Shrink(item, pool, digits);
  }
}

Json Only(const Json& object, const std::vector<const char*>& names) {
  Json chosen = Json::object();
  for (const char* name : names) {
    if (object.contains(name)) chosen[name] = object[name];
  }
  return chosen;
}

// Writes [median, low, high], which is compact for many rows.
void SetInterval(Json& row, const char* name, const std::optional<Interval>& interval) {
  if (interval)
    row[name] = {Rounded(interval->median), Rounded(interval->low), Rounded(interval->high)};
}

std::string NoteOf(const Trial& trial) {
  const std::string& reason = trial.evaluation.reason;
  const bool failed = !trial.evaluation.passed() && !reason.empty();
  const std::string& text = failed ? reason : trial.advice ? trial.advice->change : std::string();
  return CutToWidth({}, SafeLine(text), kNoteColumns);
}

// Returns what the tree, the curves and the table of attempts need. The rest is in a block.
Json RowOf(const Trial& trial) {
  Json row = {{"node", trial.node},
              {"parent", trial.parent},
              {"role", RoleName(trial.role)},
              {"status", StatusName(trial.evaluation.status)},
              {"note", NoteOf(trial)},
              {"seconds", Rounded(trial.spent.seconds)},
              {"tokens", trial.spent.tokens()},
              {"usd", Rounded(trial.spent.usd)}};
  if (trial.best) row["best"] = true;
  const Evaluation& evaluation = trial.evaluation;
  SetInterval(row, "eager", evaluation.speedup_eager);
  SetInterval(row, "compile", evaluation.speedup_compile);
  SetInterval(row, "against", evaluation.speedup_best);
  if (evaluation.timing) SetInterval(row, "ms", evaluation.timing->ms);
  const std::string bottleneck = BottleneckOf(trial);
  if (!bottleneck.empty()) row["bottleneck"] = bottleneck;
  if (evaluation.prepacked) row["prepacked"] = true;
  if (!evaluation.noisy.empty()) row["noisy"] = true;
  if (trial.profile) row["profiled"] = true;
  return row;
}

// Returns lines "verdict<tab>name<tab>detail". Most are the same for every attempt, and the pool
// stores each only once.
std::string ChecksText(const std::vector<Check>& checks) {
  std::vector<std::string> lines;
  for (const Check& check : checks) {
    lines.push_back(EnumName(check.verdict) + "\t" + SafeLine(check.name) + "\t" +
                    SafeLine(check.detail));
  }
  return Join(lines, "\n");
}

// Writes metrics as {"kinds": "0,1,2,...", "values": [...]}, because thousands of profiles have the
// same kinds.
class MetricKinds final {
 public:
  Json Pack(const Profile& profile) {
    std::string kinds;
    Json values = Json::array();
    for (const Metric& metric : profile.metrics) {
      const auto [found, fresh] = numbers_.try_emplace(
          metric.tag + "\n" + metric.unit + "\n" + metric.source, kinds_.size());
      if (fresh) kinds_.push_back({metric.tag, metric.unit, metric.source});
      kinds += (kinds.empty() ? "" : ",") + std::to_string(found->second);
      values.push_back(metric.value);
    }
    return {{"kinds", kinds}, {"values", values}};
  }
  [[nodiscard]] const Json& kinds() const { return kinds_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json kinds_ = Json::array();
};

// The cost of model calls, by role and model.
struct Cost {
  std::int64_t calls = 0;
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  double usd = 0;
  double seconds = 0;
};

template <class T>
void AddNumber(const Json& object, const char* name, T& sum) {
  if (object.contains(name) && object[name].is_number()) sum += object[name].get<T>();
}

// Collects the parts of the page.
class RunPageWriter final {
 public:
  explicit RunPageWriter(const RunPage& page) : page_(page) {
    if (const Trial* best = page.tree.best()) {
      const std::vector<int> path = page.tree.PathTo(best->node);
      best_path_.insert(path.begin(), path.end());
      environment_ = ObjectIn(ToJson(best->evaluation))["environment"];
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
  [[nodiscard]] bool KeptWhole(int node) const {
    return page_.conversations == Conversations::kAll || page_.tree.size() <= kWholeRun ||
           best_path_.contains(node);
  }

  // Returns everything about one attempt.
  Json Details(const Trial& trial) {
    Json value = ObjectIn(ToJson(trial));
    if (trial.profile) value["profile"]["metrics"] = kinds_.Pack(*trial.profile);
    if (value["evaluation"]["environment"] == environment_)
      value["evaluation"].erase("environment");
    const bool whole = KeptWhole(trial.node);
    if (!whole) {
      Json& evaluation = value["evaluation"];
      evaluation["log"] = Shorten(trial.evaluation.log, kShortProse);
      for (const char* name : {"baseline", "object_sha256", "seed", "phases_ms"})
        evaluation.erase(name);
      if (trial.advice) {
        value["advice"]["change"] = Shorten(trial.advice->change, kShortProse);
        value["advice"]["evidence"] = Shorten(trial.advice->evidence, kShortProse);
        value["advice"]["anchored"] = "";
      }
    }
    const auto bundle = page_.bundles.find(trial.node);
    if (bundle != page_.bundles.end()) value["bundle"] = bundle->second;
    value["evaluation"]["checks"] = ChecksText(trial.evaluation.checks);
    Shrink(value, texts_, whole ? kDigits : kFewDigits);
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
    content.blocks.push_back({"trial-lines", Dump(Json(texts_.lines()))});
  }

  // The totals of the calls are available at once. The list of calls and their texts go into blocks
  // by attempt.
  void AddCalls(Json& head, PageContent& content) {
    TextPool pool;
    std::map<std::pair<std::string, std::string>, Cost> costs;
    Json calls = Json::object();
    for (const CallRecord& call : page_.calls) {
      const Json completion = ObjectIn(call.completion_json);
      Cost& cost = costs[{call.role, call.model}];
      ++cost.calls;
      AddNumber(completion, "tokens_in", cost.tokens_in);
      AddNumber(completion, "tokens_out", cost.tokens_out);
      AddNumber(completion, "usd", cost.usd);
      AddNumber(completion, "seconds", cost.seconds);
      Json said = {{"role", call.role}, {"model", call.model}};
      if (page_.conversations == Conversations::kAll || best_path_.contains(call.node))
        said["said"] = Conversation(call, completion);
      Shrink(said, pool);
      calls[std::to_string(call.node)].push_back(std::move(said));
    }
    head["cost"] = CostRows(costs);
    content.blocks.push_back({"calls", Dump(calls)});
    content.blocks.push_back({"call-lines", Dump(Json(pool.lines()))});
  }

  static Json CostRows(const std::map<std::pair<std::string, std::string>, Cost>& costs) {
    Json rows = Json::array();
    for (const auto& [who, cost] : costs) {
      rows.push_back({{"role", who.first},
                      {"model", who.second},
                      {"calls", cost.calls},
                      {"tokens_in", cost.tokens_in},
                      {"tokens_out", cost.tokens_out},
                      {"usd", cost.usd},
                      {"seconds", cost.seconds}});
    }
    return rows;
  }

  static Json Conversation(const CallRecord& call, const Json& completion) {
    const auto text_of = [](const Json& object, const char* name) {
      return object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                               : std::string();
    };
    Json conversation = Json::array();
    for (const Json& message : ObjectIn(call.prompt_json))
      conversation.push_back(
          {{"role", text_of(message, "role")}, {"text", text_of(message, "text")}});
    for (const auto& [part, role] : {std::pair{"reasoning", "reasoning"}, {"text", "reply"}}) {
      const std::string text = text_of(completion, part);
      if (!text.empty()) conversation.push_back({{"role", role}, {"text", text}});
    }
    return conversation;
  }

  Json RunFacts() const {
    const RunRecord& run = page_.run;
    Json facts = {{"id", run.id},
                  {"task", run.task_name},
                  {"strategy", run.strategy},
                  {"state", run.state},
                  {"stopped", EnumName(run.stopped)},
                  {"created", FormatUtc(run.created_ms)}};
    facts["settings"] =
        Only(ObjectIn(run.settings_json),
             {"preset", "budget", "models", "seed", "machine", "advice_from_user", "options"});
    facts["final"] = run.final_json.empty() ? Json(nullptr) : ObjectIn(run.final_json);
    const auto bundle = page_.bundles.find(0);
    if (bundle != page_.bundles.end()) facts["bundle"] = bundle->second;
    return facts;
  }

  // Returns the meanings of the metrics that the page shows.
  Json Meanings() const {
    const Json settings = ObjectIn(page_.run.settings_json);
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
    head["task"] = Only(ObjectIn(page_.run.task_json),
                        {"name", "sha256", "category", "lint", "source", "arguments", "outputs",
                         "flops", "compulsory_bytes", "mode", "mode_matters", "notes"});
    head["environment"] = environment_;
    head["metrics"] = kinds_.kinds();
    head["meanings"] = Meanings();
    head["roofs"] = RoofFacts();
    head["shortened"] =
        page_.conversations == Conversations::kBestPath && page_.tree.size() > kWholeRun;
    head["trials"] = Json::array();
    for (const Trial& trial : page_.tree.trials()) head["trials"].push_back(RowOf(trial));
    const Trial* best = page_.tree.best();
    head["best"] = best == nullptr ? Json(nullptr) : Json(best->node);
    return head;
  }

  const RunPage& page_;
  std::set<int> best_path_;
  Json environment_;  // the best's; omitted from attempts judged in the same one
  MetricKinds kinds_;
  TextPool texts_;
};

}  // namespace

PageContent RunPageContent(const RunPage& page) { return RunPageWriter(page).Write(); }

}  // namespace pragma
