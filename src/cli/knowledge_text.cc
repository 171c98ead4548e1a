#include "cli/knowledge_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/json_dump.h"
#include "knowledge/build.h"
#include "knowledge/build_reply.h"
#include "knowledge/entry.h"
#include "knowledge/search.h"
#include "report/json_text.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownNotes = 12;

Json Brief(const Entry& entry) {
  return {{"id", entry.id},
          {"kind", EntryKindName(entry.kind)},
          {"title", entry.title},
          {"summary", entry.summary},
          {"targets", entry.targets}};
}

Json Whole(const Entry& entry) {
  Json json{{"id", entry.id}, {"kind", EntryKindName(entry.kind)}};
  for (const EntryText& field : EntryTexts()) {
    const std::string& value = entry.*field.member;
    json[std::string(field.name)] = !field.required && value.empty() ? Json() : Json(value);
  }
  for (const EntryList& field : EntryLists()) json[std::string(field.name)] = entry.*field.member;
  return json;
}

Json RankOf(std::size_t rank) { return rank == 0 ? Json() : Json(rank); }

Json ConflictsJson(const std::vector<Conflict>& conflicts) {
  Json list = Json::array();
  for (const Conflict& conflict : conflicts) {
    Json claims = Json::array();
    for (const Claim& claim : conflict.claims) {
      claims.push_back({{"source", claim.source}, {"says", claim.says}});
    }
    list.push_back({{"entry", conflict.entry}, {"about", conflict.about}, {"claims", claims}});
  }
  return list;
}

std::string Indented(std::string_view text) {
  std::string lines;
  for (const std::string& line : SplitLines(Trim(text))) lines += "  " + SafeText(line) + "\n";
  return lines;
}

// Formats "\nWhat conflicts:\n  ...", or nothing if there are no lines.
std::string ListText(const Terminal& terminal, const std::string& title,
                     const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = "\n" + Styled(terminal, Style::kBold, title) + "\n";
  for (std::size_t i = 0; i < lines.size() && i < kShownNotes; ++i) {
    text += "  " + SafeLine(lines[i]) + "\n";
  }
  if (lines.size() > kShownNotes) {
    text += fmt::format("  and {} more (--json has all)\n", lines.size() - kShownNotes);
  }
  return text;
}

std::string ConflictsText(const Terminal& terminal, const std::vector<Conflict>& conflicts) {
  std::string text;
  for (const Conflict& conflict : conflicts) {
    text += "  " + Styled(terminal, Style::kWarn, SafeLine(conflict.entry)) + ": " +
            SafeLine(conflict.about) + "\n";
    for (const Claim& claim : conflict.claims) {
      text += "    " + SafeLine(claim.source) + ": " + SafeLine(claim.says) + "\n";
    }
  }
  const std::string title = "\n" + Styled(terminal, Style::kBold, "Sources disagree") + "\n";
  return text.empty() ? "" : title + text;
}

}  // namespace

std::string EntryPage(const Terminal& terminal, const Entry& entry) {
  std::string text = Styled(terminal, Style::kBold, SafeLine(entry.title)) + "  " +
                     Styled(terminal, Style::kDim, entry.id) + "\n\n";
  text += RenderFacts(terminal, {{"what", SafeLine(entry.summary)},
                                 {"when", SafeLine(entry.when)},
                                 {"how", SafeLine(entry.how)},
                                 {"traps", SafeLine(entry.traps)},
                                 {"effect", SafeLine(entry.effect)}});
  if (!entry.fragment.empty()) text += "\n" + Indented(entry.fragment) + "\n";
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&facts](const std::string& name, const std::vector<std::string>& items) {
    if (!items.empty()) facts.emplace_back(name, SafeLine(Join(items, ", ")));
  };
  add("targets", entry.targets);
  add("aliases", entry.aliases);
  add("classes", entry.classes);
  add("related", entry.related);
  add("sources", entry.sources);
  return text + RenderFacts(terminal, facts);
}

std::string EntriesText(const Terminal& terminal, const std::vector<const Entry*>& entries) {
  Table table({{.title = "id"}, {.title = "title"}, {.title = "what it is", .shrinks = true}});
  for (const Entry* entry : entries) {
    table.Add({{entry->id, Style::kBold}, {SafeLine(entry->title)}, {SafeLine(entry->summary)}});
  }
  return table.Render(terminal);
}

std::string BuildText(const Terminal& terminal, const BuildReport& report, const std::string& out) {
  std::string text = RenderFacts(
      terminal,
      {{"written", SafeLine(out)},
       {"entries", fmt::format("{} ({} went into others)", report.entries, report.merged)},
       {"read", fmt::format("{} documents, {} segments", report.documents, report.segments)},
       {"replies", fmt::format("{} asked for, {} kept from before", report.asked, report.cached)},
       {"conflicts", std::to_string(report.conflicts.size())}});
  text += ConflictsText(terminal, report.conflicts);
  text += ListText(terminal, "Not used of the replies", report.rejected);
  text += ListText(terminal, "Not read", report.notes);
  return text + ListText(terminal, "Ids that the compendium has, too", report.known);
}

std::string EntryObject(const Entry& entry) {
  return Dump(Json{{"schema", kJsonSchema}, {"entry", Whole(entry)}});
}

std::string EntriesObject(const std::vector<const Entry*>& entries) {
  Json list = Json::array();
  for (const Entry* entry : entries) list.push_back(Brief(*entry));
  return Dump(Json{{"schema", kJsonSchema}, {"entries", list}});
}

std::string HitsObject(const std::string& query, const std::vector<SearchHit>& hits) {
  Json list = Json::array();
  for (const SearchHit& hit : hits) {
    Json item = Brief(*hit.entry);
    item["score"] = hit.score;
    item["by_words"] = RankOf(hit.by_words);
    item["by_meaning"] = RankOf(hit.by_meaning);
    list.push_back(std::move(item));
  }
  return Dump(Json{{"schema", kJsonSchema}, {"query", query}, {"hits", list}});
}

std::string BuildObject(const BuildReport& report, const std::string& out) {
  return Dump(Json{{"schema", kJsonSchema},
                   {"out", out},
                   {"documents", report.documents},
                   {"segments", report.segments},
                   {"asked", report.asked},
                   {"cached", report.cached},
                   {"entries", report.entries},
                   {"merged", report.merged},
                   {"conflicts", ConflictsJson(report.conflicts)},
                   {"rejected", report.rejected},
                   {"notes", report.notes},
                   {"known", report.known},
                   {"spent",
                    {{"seconds", report.spent.seconds},
                     {"tokens", report.spent.tokens_in + report.spent.tokens_out},
                     {"usd", report.spent.usd}}}});
}

}  // namespace pragma
