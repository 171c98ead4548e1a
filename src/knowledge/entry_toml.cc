// Reads and writes entries as TOML: the files of knowledge/, and the output of the builder.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "knowledge/entry.h"

namespace pragma {
namespace {

// Reports "FILE: metric.ipc: how: ...". An entry without an id is identified by its number.
std::unexpected<Error> Bad(const std::string& where, const std::string& problem) {
  return Fail(ErrorKind::kUsage, where + ": " + problem);
}

const std::vector<std::string>& KnownFields() {
  static const std::vector<std::string> kFields = [] {
    std::vector<std::string> names{"id", "kind"};
    for (const EntryText& field : EntryTexts()) names.emplace_back(field.name);
    for (const EntryList& field : EntryLists()) names.emplace_back(field.name);
    return names;
  }();
  return kFields;
}

Result<void> CheckFields(const toml::table& table, const std::string& where) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::ranges::find(KnownFields(), name) != KnownFields().end()) continue;
    const std::string near = Nearest(name, KnownFields());
    return Bad(where, name + ": is not a known field" +
                          (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  return {};
}

Result<std::string> TextOf(const toml::table& table, std::string_view name,
                           const std::string& where) {
  const toml::node* node = table.get(name);
  if (node == nullptr) return std::string{};
  const auto text = node->value<std::string>();
  if (!text || !node->is_string()) return Bad(where, std::string(name) + ": must be a text");
  return *text;
}

Result<std::vector<std::string>> ListOf(const toml::table& table, std::string_view name,
                                        const std::string& where) {
  std::vector<std::string> items;
  const toml::node* node = table.get(name);
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr) {
    return Bad(where, std::string(name) +
                          (node == nullptr ? ": missing or empty" : ": must be a list of texts"));
  }
  for (const toml::node& item : *array) {
    if (!item.is_string()) return Bad(where, std::string(name) + ": must be a list of texts");
    items.push_back(item.value_or(std::string{}));
  }
  return items;
}

Result<Entry> ReadEntry(const toml::table& table, const std::string& where) {
  Entry entry;
  entry.id = TRY(TextOf(table, "id", where));
  TRY(CheckFields(table, where));
  const std::string kind = TRY(TextOf(table, "kind", where));
  const std::optional<EntryKind> known = EntryKindFromName(kind);
  if (!known) return Bad(where, "kind: must be " + EntryKindNames());
  entry.kind = *known;
  for (const EntryText& field : EntryTexts()) {
    entry.*field.member = TRY(TextOf(table, field.name, where));
  }
  for (const EntryList& field : EntryLists()) {
    entry.*field.member = TRY(ListOf(table, field.name, where));
  }
  const std::string problem = EntryProblem(entry);
  if (!problem.empty()) return Bad(where, problem);
  return entry;
}

std::string PlaceOf(const toml::table& table, const std::string& name, std::size_t number) {
  const auto id = table["id"].value<std::string>();
  const bool plain = id && !id->empty() && id->size() < 100 &&
                     std::ranges::all_of(*id, [](char c) { return c > 0x20 && c < 0x7F; });
  return plain ? name + ": " + *id : fmt::format("{}: entry {}", name, number);
}

Result<std::vector<Entry>> ReadEntries(const toml::table& file, const std::string& name) {
  for (const auto& [key, node] : file) {
    if (key.str() != "entry" && key.str() != "metric") {
      return Bad(name, fmt::format("line {}: only [[entry]] tables are expected",
                                   node.source().begin.line));
    }
  }
  const toml::array* list = file["entry"].as_array();
  if (list == nullptr && file.contains("metric")) return std::vector<Entry>{};
  if (list == nullptr) return Bad(name, "holds no [[entry]]");
  std::vector<Entry> entries;
  for (const toml::node& node : *list) {
    const toml::table* table = node.as_table();
    const std::size_t number = entries.size() + 1;
    if (table == nullptr) return Bad(name, fmt::format("entry {} is not a table", number));
    entries.push_back(TRY(ReadEntry(*table, PlaceOf(*table, name, number))));
  }
  return entries;
}

// Returns a basic TOML string, in which forbidden characters are escaped.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += fmt::format("\\{}", c);
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Returns a multi-line TOML string, in which only \ and quotes need to be escaped.
std::string QuotedLines(std::string_view text) {
  std::string quoted = "\"\"\"\n";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"\"\"";
}

std::string ListText(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const std::string& item : items) quoted.push_back(Quoted(item));
  return "[" + Join(quoted, ", ") + "]";
}

std::string EntryToToml(const Entry& entry) {
  std::string text = fmt::format("[[entry]]\nid = {}\nkind = {}\n", Quoted(entry.id),
                                 Quoted(EntryKindName(entry.kind)));
  for (const EntryText& field : EntryTexts()) {
    const std::string& value = entry.*field.member;
    if (!field.required && value.empty()) continue;
    const bool lines = value.find('\n') != std::string::npos;
    text += fmt::format("{} = {}\n", field.name, lines ? QuotedLines(value) : Quoted(value));
  }
  for (const EntryList& field : EntryLists()) {
    text += fmt::format("{} = {}\n", field.name, ListText(entry.*field.member));
  }
  return text;
}

}  // namespace

Result<std::vector<Entry>> ParseEntries(std::string_view text, const std::string& name) {
  if (ToValidUtf8(text) != text) return Bad(name, "is not UTF-8 text");
  try {
    return ReadEntries(toml::parse(text, name), name);
  } catch (const toml::parse_error& error) {
    return Bad(name, fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
}

std::string EntriesToToml(const std::vector<Entry>& entries) {
  std::vector<std::string> texts;
  for (const Entry& entry : entries) texts.push_back(EntryToToml(entry));
  return Join(texts, "\n");
}

}  // namespace pragma
