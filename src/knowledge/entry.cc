#include "knowledge/entry.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace pragma {
namespace {

constexpr std::array<std::pair<EntryKind, std::string_view>, 4> kKinds{
    {{EntryKind::kMetric, "metric"},
     {EntryKind::kBottleneck, "bottleneck"},
     {EntryKind::kTechnique, "technique"},
     {EntryKind::kError, "error"}}};

constexpr std::size_t kMostIdBytes = 80;
constexpr std::size_t kMostTitleBytes = 120;
constexpr std::size_t kMostTextBytes = 6000;
constexpr std::size_t kMostItems = 64;
constexpr std::size_t kMostItemBytes = 1000;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns true if the text contains control characters, including U+007F. Entries are displayed
// unchanged, so they must not control a terminal.
bool HasControl(std::string_view text, bool lines) {
  return std::ranges::any_of(text, [lines](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && !(lines && (c == '\n' || c == '\t'))) || byte == 0x7F;
  });
}

std::string IdProblem(const Entry& entry) {
  const std::string prefix = std::string(EntryKindName(entry.kind)) + ".";
  if (!entry.id.starts_with(prefix)) return "id: must begin with \"" + prefix + "\", as its kind";
  const std::string name = entry.id.substr(prefix.size());
  if (name.empty() || !std::ranges::all_of(name, IsNameCharacter)) {
    return "id: the part after \"" + prefix + "\" must be lower-case letters, digits and _";
  }
  return entry.id.size() > kMostIdBytes ? "id: longer than 80 bytes" : "";
}

std::string TextProblem(const Entry& entry, const EntryText& field) {
  const std::string& text = entry.*field.member;
  const std::string name(field.name);
  if (field.required && Trim(text).empty()) return name + ": missing or empty";
  const std::size_t most = field.name == "title" ? kMostTitleBytes : kMostTextBytes;
  if (text.size() > most) return name + ": longer than " + std::to_string(most) + " bytes";
  if (HasControl(text, field.name == "fragment") || ToValidUtf8(text) != text) {
    return name + ": must be one line of UTF-8 text without control characters";
  }
  return "";
}

std::string ListProblem(const Entry& entry, const EntryList& field) {
  const std::vector<std::string>& items = entry.*field.member;
  const std::string name(field.name);
  if (field.filled && items.empty()) return name + ": missing or empty";
  if (items.size() > kMostItems) return name + ": more than 64 items";
  for (const std::string& item : items) {
    if (Trim(item).empty()) return name + ": holds an empty text";
    if (item.size() > kMostItemBytes || HasControl(item, false) || ToValidUtf8(item) != item) {
      return name + ": an item must be one line of at most 1000 bytes of UTF-8 text";
    }
    if (std::ranges::count(items, item) > 1) return name + ": \"" + item + "\" occurs twice";
  }
  return "";
}

std::string TargetProblem(const Entry& entry) {
  for (const std::string& target : entry.targets) {
    if (std::ranges::find(EntryTargets(), target) == EntryTargets().end()) {
      return "targets: \"" + target + "\" is none of " + Join(EntryTargets(), ", ");
    }
  }
  return "";
}

}  // namespace

std::string_view EntryKindName(EntryKind kind) {
  return std::ranges::find(kKinds, kind, [](const auto& pair) { return pair.first; })->second;
}

std::optional<EntryKind> EntryKindFromName(std::string_view name) {
  for (const auto& [kind, word] : kKinds) {
    if (word == name) return kind;
  }
  return std::nullopt;
}

std::string EntryKindNames() { return "metric, bottleneck, technique or error"; }

const std::vector<std::string>& EntryTargets() {
  static const std::vector<std::string> kTargets{"cpu", "x86", "arm", "gpu", "triton", "cuda"};
  return kTargets;
}

const std::vector<EntryText>& EntryTexts() {
  static const std::vector<EntryText> kTexts{{"title", &Entry::title},
                                             {"summary", &Entry::summary},
                                             {"when", &Entry::when},
                                             {"how", &Entry::how},
                                             {"traps", &Entry::traps},
                                             {"effect", &Entry::effect},
                                             {"fragment", &Entry::fragment, false}};
  return kTexts;
}

const std::vector<EntryList>& EntryLists() {
  static const std::vector<EntryList> kLists{{"targets", &Entry::targets, true},
                                             {"aliases", &Entry::aliases},
                                             {"classes", &Entry::classes},
                                             {"related", &Entry::related},
                                             {"sources", &Entry::sources, true}};
  return kLists;
}

std::string EntryProblem(const Entry& entry) {
  if (std::string problem = IdProblem(entry); !problem.empty()) return problem;
  for (const EntryText& field : EntryTexts()) {
    if (std::string problem = TextProblem(entry, field); !problem.empty()) return problem;
  }
  for (const EntryList& field : EntryLists()) {
    if (std::string problem = ListProblem(entry, field); !problem.empty()) return problem;
  }
  return TargetProblem(entry);
}

}  // namespace pragma
