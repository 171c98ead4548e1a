#include "knowledge/build_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "knowledge/entry.h"
#include "llm/completion.h"
#include "llm/reply.h"

namespace pragma {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kReplyBytes = std::size_t{1} << 20U;  // longer replies are not examined
constexpr std::size_t kMostEntries = 100;
constexpr std::size_t kMostConflicts = 50;
constexpr std::size_t kShownProblems = 6;

// Returns the last block, or the widest span of prose, that is an object with "entries".
std::optional<Json> ObjectIn(std::string_view text) {
  const std::size_t begin = text.find('{');
  const std::size_t end = text.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return std::nullopt;
  }
  const std::string_view whole = text.substr(begin, end - begin + 1);
  Json json = Json::parse(WithEscapedBreaks(whole), nullptr, false);
  if (!json.is_object() || !json.contains("entries")) return std::nullopt;
  return json;
}

std::optional<Json> ObjectOf(std::string_view reply) {
  const std::string text = ToValidUtf8(SeparateReasoning(reply.substr(0, kReplyBytes)).text);
  std::optional<Json> object;
  for (const FencedBlock& block : FencedBlocks(text)) {
    if (auto found = ObjectIn(block.text)) object = std::move(found);
  }
  return object ? object : ObjectIn(text);
}

// Returns the text as one line without control characters.
std::string OneLine(const std::string& text) {
  std::string line;
  for (const char c : ToValidUtf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool space = byte <= 0x20 || byte == 0x7F;
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  return std::string(Trim(line));
}

std::string Lines(const std::string& text) {
  std::string lines;
  for (const char c : ToValidUtf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 ? byte != 0x7F : c == '\n' || c == '\t') lines += c;
  }
  return Trim(lines).empty() ? "" : lines;
}

std::string TextOf(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> ListOf(const Json& object, std::string_view name) {
  std::vector<std::string> items;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return items;
  for (const Json& item : *found) {
    std::string text = item.is_string() ? OneLine(item.get<std::string>()) : "";
    const bool fresh = !text.empty() && std::ranges::find(items, text) == items.end();
    if (fresh) items.push_back(std::move(text));
  }
  return items;
}

Entry EntryOf(const Json& object, const ReplyRules& rules) {
  Entry entry;
  entry.id = OneLine(TextOf(object, "id"));
  // The id begins with the kind. So "kind" is redundant, and a different value of it is ignored.
  const std::string prefix = entry.id.substr(0, entry.id.find('.'));
  entry.kind = EntryKindFromName(prefix).value_or(EntryKind::kTechnique);
  for (const EntryText& field : EntryTexts()) {
    const std::string text = TextOf(object, field.name);
    entry.*field.member = field.name == "fragment" ? Lines(text) : OneLine(text);
  }
  for (const EntryList& field : EntryLists()) entry.*field.member = ListOf(object, field.name);
  entry.sources = rules.sources;
  return entry;
}

std::string ClassProblem(const Entry& entry, const ReplyRules& rules) {
  for (const std::string& id : entry.classes) {
    if (std::ranges::find(rules.classes, id) == rules.classes.end()) {
      return "classes: there is no class \"" + id + "\"";
    }
  }
  return "";
}

void DropUnknownClasses(Entry& entry, const ReplyRules& rules) {
  std::erase_if(entry.classes, [&rules](const std::string& id) {
    return std::ranges::find(rules.classes, id) == rules.classes.end();
  });
}

std::string IdProblem(const Entry& entry, const ReplyRules& rules,
                      const std::vector<Entry>& before) {
  if (!rules.ids.empty() && std::ranges::find(rules.ids, entry.id) == rules.ids.end()) {
    return "id: must be one of " + Join(rules.ids, ", ");
  }
  if (std::ranges::find(before, entry.id, &Entry::id) != before.end()) return "id: occurs twice";
  return "";
}

void ReadEntries(const Json& list, const ReplyRules& rules, EntriesReply& reply) {
  std::size_t number = 0;
  for (const Json& item : list) {
    if (++number > kMostEntries) {
      reply.dropped.push_back(fmt::format("more than {} entries", kMostEntries));
      return;
    }
    Entry entry = item.is_object() ? EntryOf(item, rules) : Entry{};
    std::string problem = item.is_object() ? EntryProblem(entry) : "is not an object";
    if (problem.empty()) problem = IdProblem(entry, rules, reply.entries);
    const std::string where =
        fmt::format("entry {} ({})", number, entry.id.empty() ? "no id" : Shorten(entry.id, 80));
    if (!problem.empty()) {
      reply.dropped.push_back(where + ": " + problem);
      continue;
    }
    // A wrong class is a reason to ask again, but not to drop the entry.
    problem = ClassProblem(entry, rules);
    if (!problem.empty() && reply.problem.empty()) reply.problem = where + ": " + problem;
    DropUnknownClasses(entry, rules);
    reply.entries.push_back(std::move(entry));
  }
}

void ReadConflicts(const Json& object, EntriesReply& reply) {
  const auto list = object.find("conflicts");
  if (list == object.end() || !list->is_array()) return;
  for (const Json& item : *list) {
    if (!item.is_object() || reply.conflicts.size() >= kMostConflicts) continue;
    Conflict conflict{.entry = Shorten(OneLine(TextOf(item, "entry")), 100),
                      .about = Shorten(OneLine(TextOf(item, "about")), 1000),
                      .claims = {}};
    const auto claims = item.find("claims");
    if (claims == item.end() || !claims->is_array()) continue;
    for (const Json& claim : *claims) {
      if (!claim.is_object() || conflict.claims.size() >= kMostConflicts) continue;
      conflict.claims.push_back({.source = Shorten(OneLine(TextOf(claim, "source")), 1000),
                                 .says = Shorten(OneLine(TextOf(claim, "says")), 1000)});
    }
    if (conflict.claims.size() >= 2) reply.conflicts.push_back(std::move(conflict));
  }
}

}  // namespace

EntriesReply ParseEntriesReply(std::string_view text, bool truncated, const ReplyRules& rules) {
  EntriesReply reply;
  const std::optional<Json> object = ObjectOf(text);
  if (!object) {
    reply.problem = truncated
                        ? "the reply was cut off before its JSON object ended; give fewer and "
                          "shorter entries"
                        : "the reply has no JSON object with \"entries\"";
    return reply;
  }
  const Json& list = (*object)["entries"];
  if (!list.is_array()) {
    reply.problem = "\"entries\" must be a list";
    return reply;
  }
  ReadEntries(list, rules, reply);
  ReadConflicts(*object, reply);
  if (!rules.ids.empty() && reply.entries.empty() && reply.dropped.empty()) {
    reply.problem = "\"entries\" must hold at least one entry";
  }
  if (!reply.dropped.empty()) {
    const std::size_t shown = std::min(reply.dropped.size(), kShownProblems);
    reply.problem = Join(
        {reply.dropped.begin(), reply.dropped.begin() + static_cast<std::ptrdiff_t>(shown)}, "; ");
  }
  return reply;
}

std::string EntryToJson(const Entry& entry) {
  OrderedJson json{{"id", entry.id}};
  for (const EntryText& field : EntryTexts()) {
    const std::string& value = entry.*field.member;
    if (field.required || !value.empty()) json[std::string(field.name)] = value;
  }
  for (const EntryList& field : EntryLists()) json[std::string(field.name)] = entry.*field.member;
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace pragma
