#include "cli/recheck_report.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/evaluation.h"
#include "core/json_dump.h"
#include "evidence/bundle.h"
#include "evidence/recheck.h"
#include "report/figures.h"
#include "report/json_text.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShortHash = 12;

Style VerdictStyle(RecheckVerdict verdict) {
  if (verdict == RecheckVerdict::kConfirmed) return Style::kGood;
  return verdict == RecheckVerdict::kRefuted ? Style::kBad : Style::kWarn;
}

std::string VerdictWords(RecheckVerdict verdict) {
  if (verdict == RecheckVerdict::kConfirmed) return "confirmed";
  if (verdict == RecheckVerdict::kInconclusive) return "inconclusive";
  return verdict == RecheckVerdict::kRefuted ? "REFUTED" : "confirmed, with notes";
}

std::string ErrorCell(const Evaluation& evaluation) {
  return evaluation.error ? fmt::format("{:.3g}", evaluation.error->rel_l2) : "-";
}

std::string TimeCell(const Evaluation& evaluation) {
  return evaluation.timing ? FormatMillis(evaluation.timing->ms) : "-";
}

std::string ObjectCell(const Evaluation& evaluation) {
  return evaluation.object_sha256.empty()
             ? "-"
             : SafeLine(evaluation.object_sha256.substr(0, kShortHash));
}

void AddRatio(Table& table, const std::string& name, const Rechecked& rechecked,
              std::optional<Interval> Evaluation::* ratio) {
  const Evaluation& recorded = rechecked.opened.bundle.evaluation;
  if (!(recorded.*ratio)) return;
  std::vector<Cell> row{{name}};
  for (const Evaluation* evaluation :
       {&recorded, &rechecked.now.same_seed, &rechecked.now.fresh_seed}) {
    const auto& figure = evaluation->*ratio;
    row.push_back({FormatSpeedup(figure), SpeedupStyle(figure)});
  }
  table.Add(std::move(row));
}

std::string FiguresText(const Terminal& terminal, const Rechecked& rechecked) {
  const Evaluation& recorded = rechecked.opened.bundle.evaluation;
  const Evaluation& same = rechecked.now.same_seed;
  const Evaluation& fresh = rechecked.now.fresh_seed;
  Table table({{.title = ""}, {.title = "recorded"}, {.title = "same seed"}, {.title = "fresh"}});
  const auto status = [](const Evaluation& evaluation) {
    return Cell{std::string(StatusName(evaluation.status)), StatusStyle(evaluation.status)};
  };
  table.Add({{"status"}, status(recorded), status(same), status(fresh)});
  table.Add({{"rel. L2 error"}, {ErrorCell(recorded)}, {ErrorCell(same)}, {ErrorCell(fresh)}});
  table.Add({{"object"}, {ObjectCell(recorded)}, {ObjectCell(same)}, {ObjectCell(fresh)}});
  if (recorded.timing)
    table.Add({{"time [95 %]"}, {TimeCell(recorded)}, {TimeCell(same)}, {TimeCell(fresh)}});
  AddRatio(table, "vs eager", rechecked, &Evaluation::speedup_eager);
  AddRatio(table, "vs compile", rechecked, &Evaluation::speedup_compile);
  AddRatio(table, "vs best then", rechecked, &Evaluation::speedup_best);
  return table.Render(terminal);
}

std::string DifferenceLine(const Terminal& terminal, const Difference& difference) {
  const bool refutes = difference.weight == Weight::kRefutes;
  const std::string weight = refutes ? "REFUTES" : std::string(WeightName(difference.weight));
  std::string line = Styled(terminal, refutes ? Style::kBad : Style::kWarn, weight + " ");
  line += difference.what + ": ";
  if (!difference.recorded.empty() || !difference.now.empty()) {
    line += fmt::format("recorded {}, here {}", SafeLine(difference.recorded),
                        SafeLine(difference.now));
    if (!difference.detail.empty()) line += "; ";
  }
  return "  " + line + SafeLine(difference.detail) + "\n";
}

std::string OriginText(const Lineage& lineage) {
  return fmt::format("run {}, attempt {}, {}, {} calls", SafeLine(lineage.run), lineage.node,
                     SafeLine(lineage.author), lineage.calls.size());
}

std::string FactsText(const Terminal& terminal, const Rechecked& rechecked) {
  const Bundle& bundle = rechecked.opened.bundle;
  std::vector<std::pair<std::string, std::string>> facts{
      {"bundle", rechecked.opened.sha256},
      {"judged by", bundle.options.judging.mode == CheckMode::kOfficial
                        ? "KernelBench's own rule, weaker than strict"
                        : "strict"},
      {"recorded on", SafeLine(bundle.evaluation.environment.cpu)},
      {"fresh seed", rechecked.now.fresh_seed.seed}};
  for (const auto& [name, evaluation] :
       {std::pair("noisy, recorded", &bundle.evaluation),
        std::pair("noisy, same seed", &rechecked.now.same_seed),
        std::pair("noisy, fresh seed", &rechecked.now.fresh_seed)}) {
    if (!evaluation->noisy.empty()) facts.emplace_back(name, SafeLine(evaluation->noisy));
  }
  if (bundle.lineage) facts.emplace_back("came from", OriginText(*bundle.lineage));
  return RenderFacts(terminal, facts);
}

}  // namespace

std::string RecheckObject(const Rechecked& rechecked) {
  const Bundle& bundle = rechecked.opened.bundle;
  const auto evaluate = [&](const Evaluation& evaluation) {
    return Json::parse(EvaluateObject(rechecked.task, bundle.candidate, evaluation), nullptr,
                       /*allow_exceptions=*/false);
  };
  Json value = {{"schema", kJsonSchema}, {"bundle", rechecked.opened.sha256}, {"intact", true}};
  value["recorded"] = evaluate(bundle.evaluation);
  value["same_seed"] = evaluate(rechecked.now.same_seed);
  value["fresh_seed"] = evaluate(rechecked.now.fresh_seed);
  value["differences"] = Json::array();
  for (const Difference& difference : rechecked.report.differences) {
    value["differences"].push_back({{"what", difference.what},
                                    {"weight", WeightName(difference.weight)},
                                    {"recorded", difference.recorded},
                                    {"now", difference.now},
                                    {"detail", difference.detail}});
  }
  value["verdict"] = VerdictName(rechecked.report.verdict);
  return Dump(value);
}

std::string RecheckText(const Terminal& terminal, const Rechecked& rechecked) {
  const RecheckVerdict verdict = rechecked.report.verdict;
  std::string text = Styled(terminal, VerdictStyle(verdict), VerdictWords(verdict));
  text += fmt::format("  {}  kernel {}\n\n", SafeLine(rechecked.task.name),
                      rechecked.opened.bundle.candidate.id());
  text += FiguresText(terminal, rechecked);
  if (!rechecked.report.differences.empty()) text += "\n";
  for (const Difference& difference : rechecked.report.differences)
    text += DifferenceLine(terminal, difference);
  return text + "\n" + FactsText(terminal, rechecked);
}

}  // namespace pragma
