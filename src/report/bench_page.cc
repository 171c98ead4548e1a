#include "report/bench_page.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/json_dump.h"
#include "core/timing.h"
#include "report/html_page.h"
#include "report/json_text.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

Json IntervalJson(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {interval->median, interval->low, interval->high};
}

Json RowJson(const BenchReportRow& row) {
  Json value = {{"task", row.task},         {"category", row.category}, {"lint", row.lint},
                {"strategy", row.strategy}, {"model", row.model},       {"repeat", row.repeat},
                {"run", row.run},           {"passed", row.passed},     {"problem", row.problem},
                {"stopped", row.stopped},   {"attempts", row.attempts}, {"tokens", row.tokens},
                {"usd", row.usd},           {"seconds", row.seconds}};
  value["eager"] = IntervalJson(row.eager);
  value["compile"] = IntervalJson(row.compile);
  value["curve"] = Json::array();
  for (const BestMark& point : row.curve) {
    value["curve"].push_back({{"attempt", point.attempt},
                              {"tokens", point.tokens},
                              {"best", point.best ? Json(*point.best) : Json(nullptr)}});
  }
  return value;
}

}  // namespace

PageContent BenchPageContent(const BenchReport& report) {
  Json value = {{"kind", "bench"},
                {"schema", kJsonSchema},
                {"name", report.name},
                {"interrupted", report.interrupted},
                {"rows", Json::array()}};
  for (const BenchReportRow& row : report.rows) value["rows"].push_back(RowJson(row));
  return {.title = "bench " + report.name, .json = Dump(value)};
}

}  // namespace pragma
