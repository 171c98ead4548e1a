// TomlReader: reads a TOML table into native values. An absent key leaves the default. The first
// problem (a wrong type, an unknown key, a missing key) is kept as "FILE: FIELD: PROBLEM".
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pragma {

class TomlReader final {
 public:
  [[nodiscard]] static Result<TomlReader> Parse(std::string_view text, const std::string& name);

  void Get(const std::string& key, std::string& out);
  void Get(const std::string& key, double& out);
  void Get(const std::string& key, int& out);
  void Get(const std::string& key, bool& out);
  void Get(const std::string& key, std::vector<std::string>& out);
  void Get(const std::string& key, std::map<std::string, double>& out);
  void Get(const std::string& key, std::map<std::string, std::string>& out);
  template <class T>
  void Get(const std::string& key, std::optional<T>& out) {
    if (Has(key)) Get(key, out.emplace());
  }
  // Like Get, but a missing or empty value is an error.
  template <class T>
  void Require(const std::string& key, T& out) {
    if (!Has(key)) Complain(key, "is missing");
    Get(key, out);
  }
  template <class E>
  void GetChoice(const std::string& key, const std::vector<std::pair<std::string, E>>& names,
                 E& out) {
    std::vector<std::string> known;
    for (const auto& [name, value] : names) known.push_back(name);
    if (const auto index = Choice(key, known)) out = names[*index].second;
  }
  // Reads a text that must be one of `known`.
  void GetWord(const std::string& key, const std::vector<std::string>& known, std::string& out) {
    if (const auto index = Choice(key, known)) out = known[*index];
  }
  // Calls `read` on a table, if there is one, or on each table of an array of tables.
  void Table(const std::string& key, const std::function<void(TomlReader&)>& read);
  void Tables(const std::string& key, const std::function<void(TomlReader&)>& read);

  [[nodiscard]] bool Has(const std::string& key) const;
  // Reports the first key that was never read.
  void NoMoreKeys();
  // Keeps the error "FILE: FIELD PROBLEM". Only the first error is kept.
  void Complain(const std::string& key, const std::string& problem);
  [[nodiscard]] Result<void> status() const;

 private:
  struct Document;
  TomlReader(std::shared_ptr<Document> document, const void* table, std::string path);
  [[nodiscard]] const void* Find(const std::string& key);
  [[nodiscard]] std::optional<std::size_t> Choice(const std::string& key,
                                                  const std::vector<std::string>& known);
  std::shared_ptr<Document> document_;
  const void* table_;
  std::string path_;
  std::vector<std::string> asked_;
};

// Returns the *.toml files of a folder, sorted by name.
[[nodiscard]] Result<std::vector<std::filesystem::path>> TomlFilesIn(
    const std::filesystem::path& folder);

}  // namespace pragma
