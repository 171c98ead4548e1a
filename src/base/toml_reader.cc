#include "base/toml_reader.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace pragma {

struct TomlReader::Document {
  toml::table root;
  std::string name;
  std::optional<Error> error;
};

namespace {

const toml::node& Node(const void* node) { return *static_cast<const toml::node*>(node); }
const toml::table& TableAt(const void* table) { return *static_cast<const toml::table*>(table); }

}  // namespace

TomlReader::TomlReader(std::shared_ptr<Document> document, const void* table, std::string path)
    : document_(std::move(document)), table_(table), path_(std::move(path)) {}

Result<TomlReader> TomlReader::Parse(std::string_view text, const std::string& name) {
  auto document = std::make_shared<Document>();
  document->name = name;
  try {
    document->root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  } catch (const std::exception& error) {
    return Fail(ErrorKind::kUsage, fmt::format("{}: {}", name, error.what()));
  }
  const void* root = &document->root;
  return TomlReader(std::move(document), root, "");
}

bool TomlReader::Has(const std::string& key) const { return TableAt(table_).contains(key); }

const void* TomlReader::Find(const std::string& key) {
  asked_.push_back(key);
  return TableAt(table_).get(key);
}

void TomlReader::Complain(const std::string& key, const std::string& problem) {
  if (document_->error) return;
  document_->error =
      Error{ErrorKind::kUsage, fmt::format("{}: {}{} {}", document_->name, path_, key, problem)};
}

Result<void> TomlReader::status() const {
  if (document_->error) return std::unexpected(*document_->error);
  return {};
}

void TomlReader::Get(const std::string& key, std::string& out) {
  const void* node = Find(key);
  if (node == nullptr) return;
  if (!Node(node).is_string()) return Complain(key, "must be a text");
  out = Node(node).as_string()->get();
}

void TomlReader::Get(const std::string& key, double& out) {
  const void* node = Find(key);
  if (node == nullptr) return;
  const auto value = Node(node).is_number() ? Node(node).value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value)) return Complain(key, "must be a number");
  out = *value;
}

void TomlReader::Get(const std::string& key, int& out) {
  const void* node = Find(key);
  if (node == nullptr) return;
  const auto value = Node(node).is_integer() ? Node(node).value<std::int64_t>() : std::nullopt;
  if (!value || *value < -1'000'000'000 || *value > 1'000'000'000)
    return Complain(key, "must be a whole number");
  out = static_cast<int>(*value);
}

void TomlReader::Get(const std::string& key, bool& out) {
  const void* node = Find(key);
  if (node == nullptr) return;
  if (!Node(node).is_boolean()) return Complain(key, "must be true or false");
  out = Node(node).as_boolean()->get();
}

void TomlReader::Get(const std::string& key, std::vector<std::string>& out) {
  const void* node = Find(key);
  if (node == nullptr) return;
  if (!Node(node).is_array()) return Complain(key, "must be a list of texts");
  for (const toml::node& item : *Node(node).as_array()) {
    if (!item.is_string()) return Complain(key, "must be a list of texts");
    out.push_back(item.as_string()->get());
  }
}

void TomlReader::Get(const std::string& key, std::map<std::string, double>& out) {
  const void* node = Find(key);
  if (node == nullptr) return;
  if (!Node(node).is_table()) return Complain(key, "must be a table of numbers");
  for (const auto& [name, item] : *Node(node).as_table()) {
    const auto value = item.is_number() ? item.value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value)) return Complain(key, "must be a table of numbers");
    out[std::string(name.str())] = *value;
  }
}

void TomlReader::Get(const std::string& key, std::map<std::string, std::string>& out) {
  const void* node = Find(key);
  if (node == nullptr) return;
  if (!Node(node).is_table()) return Complain(key, "must be a table of texts");
  for (const auto& [name, item] : *Node(node).as_table()) {
    if (!item.is_string()) return Complain(key, "must be a table of texts");
    out[std::string(name.str())] = item.as_string()->get();
  }
}

std::optional<std::size_t> TomlReader::Choice(const std::string& key,
                                              const std::vector<std::string>& known) {
  if (!Has(key)) {
    asked_.push_back(key);
    return std::nullopt;
  }
  std::string text;
  Get(key, text);
  const auto found = std::ranges::find(known, text);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  const std::string near = Nearest(text, known);
  Complain(key, fmt::format("is \"{}\"; {}", text,
                            near.empty() ? "known are " + Join(known, ", ")
                                         : "did you mean \"" + near + "\"?"));
  return std::nullopt;
}

void TomlReader::Table(const std::string& key, const std::function<void(TomlReader&)>& read) {
  const void* node = Find(key);
  if (node == nullptr) return;
  if (!Node(node).is_table()) return Complain(key, "must be a table");
  TomlReader table(document_, Node(node).as_table(), path_ + key + ".");
  read(table);
  table.NoMoreKeys();
}

void TomlReader::Tables(const std::string& key, const std::function<void(TomlReader&)>& read) {
  const void* node = Find(key);
  if (node == nullptr) return;
  if (!Node(node).is_array()) return Complain(key, "must be an array of tables");
  std::size_t index = 0;
  for (const toml::node& item : *Node(node).as_array()) {
    if (!item.is_table()) return Complain(key, "must be an array of tables");
    TomlReader table(document_, item.as_table(), fmt::format("{}{}[{}].", path_, key, index++));
    read(table);
    table.NoMoreKeys();
  }
}

void TomlReader::NoMoreKeys() {
  for (const auto& [key, node] : TableAt(table_)) {
    const std::string name(key.str());
    if (std::ranges::find(asked_, name) != asked_.end()) continue;
    const std::string near = Nearest(name, asked_);
    Complain(name, near.empty() ? "is not known; known are " + Join(asked_, ", ")
                                : "is not known; did you mean \"" + near + "\"?");
  }
}

Result<std::vector<std::filesystem::path>> TomlFilesIn(const std::filesystem::path& folder) {
  std::error_code code;
  std::vector<std::filesystem::path> paths;
  for (auto entry = std::filesystem::directory_iterator(folder, code);
       !code && entry != std::filesystem::directory_iterator(); entry.increment(code)) {
    if (entry->path().extension() == ".toml") paths.push_back(entry->path());
  }
  if (code) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("cannot read the folder {}: {}; install pragma again", folder.string(),
                            code.message()));
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace pragma
