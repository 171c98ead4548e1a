// JsonReader: a view of foreign JSON as native values. Nothing throws: what is absent leaves the
// default, what has the wrong type is remembered as the document's first error. Of members with the
// same name the last counts.
#pragma once

#include <cstddef>
#include <cstdint>
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

class JsonReader final {
 public:
  enum class Type : std::uint8_t { kNull, kBool, kInteger, kReal, kText, kArray, kObject };

  // A whole document. `what` names it in errors: "evaluation", "reply of the service". Numbers
  // beyond 64 bits and what is nested more than 1,000 deep are refused.
  [[nodiscard]] static Result<JsonReader> Parse(std::string_view text, std::string_view what);

  [[nodiscard]] Type type() const;
  [[nodiscard]] bool null() const { return type() == Type::kNull; }
  // A member, or a null value where there is none (also of things that are no object).
  [[nodiscard]] JsonReader operator[](std::string_view name) const;
  [[nodiscard]] std::vector<JsonReader> items() const;  // of an array; of null: none
  // Of an object, by name.
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;

  // This value. Null leaves `out` as it is, except that a double becomes NaN when the value is
  // there and null (JSON's only way to say it).
  void Get(std::string& out) const;
  void Get(double& out) const;
  void Get(std::int64_t& out) const;
  void Get(std::size_t& out) const;
  void Get(int& out) const;
  void Get(bool& out) const;
  template <class T>
  void Get(std::optional<T>& out) const {
    if (null()) return;
    Get(out.emplace());
  }
  template <class T>
  void Get(std::vector<T>& out) const {
    for (const JsonReader& item : items()) item.Get(out.emplace_back());
  }
  template <class T>
  void Get(std::map<std::string, T>& out) const {
    for (const auto& [name, value] : members()) value.Get(out[name]);
  }
  // A member.
  template <class T>
  void Get(std::string_view name, T& out) const {
    (*this)[name].Get(out);
  }
  // The same, and its absence is an error.
  template <class T>
  void Require(std::string_view name, T& out) const {
    if ((*this)[name].null()) Complain(std::string(name) + " is missing");
    Get(name, out);
  }

  // Remembers an error: "<what>: <path>: <problem>". Only the first is kept.
  void Complain(const std::string& problem) const;
  // The first error so far, of the whole document.
  [[nodiscard]] Result<void> status() const;
  // The JSON text of this value.
  [[nodiscard]] std::string Dump() const;

 private:
  struct Document;
  JsonReader(std::shared_ptr<Document> document, std::size_t node);
  // A member that is not there.
  JsonReader(const JsonReader& object, std::string_view absent);
  // Complains unless `fits`, which it returns.
  [[nodiscard]] bool Expect(bool fits, std::string_view wanted) const;
  std::shared_ptr<Document> document_;
  std::size_t node_;     // the value, or where there is none the innermost around it that is there
  bool present_ = true;  // false: no such member
  std::string absent_;   // then its path below `node_`
};

}  // namespace pragma
