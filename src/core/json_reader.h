// JsonReader: a view of untrusted JSON as native values. It never throws. An absent value leaves
// the default. A value of the wrong type is kept as the document's first error. If several members
// have the same name, the last one counts.
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

  // Parses a whole document. `what` names it in errors: "evaluation", "reply of the service".
  // Refuses numbers beyond 64 bits and values nested more than 1,000 deep.
  [[nodiscard]] static Result<JsonReader> Parse(std::string_view text, std::string_view what);

  [[nodiscard]] Type type() const;
  [[nodiscard]] bool null() const { return type() == Type::kNull; }
  // Returns a member, or a null value if there is none. The latter also holds for values that are
  // not objects.
  [[nodiscard]] JsonReader operator[](std::string_view name) const;
  [[nodiscard]] std::vector<JsonReader> items() const;  // elements of an array; none for null
  // Returns the members of an object, by name.
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;

  // Reads this value. Null leaves `out` unchanged, with one exception: a double becomes NaN when
  // the value is present and null, because JSON cannot write NaN in any other way.
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
  // Reads a member.
  template <class T>
  void Get(std::string_view name, T& out) const {
    (*this)[name].Get(out);
  }
  // Reads a member whose absence is an error.
  template <class T>
  void Require(std::string_view name, T& out) const {
    if ((*this)[name].null()) Complain(std::string(name) + " is missing");
    Get(name, out);
  }

  // Keeps an error: "<what>: <path>: <problem>". Only the first one is kept.
  void Complain(const std::string& problem) const;
  // Returns the first error so far in the whole document.
  [[nodiscard]] Result<void> status() const;
  // Returns the JSON text of this value.
  [[nodiscard]] std::string Dump() const;

 private:
  struct Document;
  JsonReader(std::shared_ptr<Document> document, std::size_t node);
  // Makes a reader for a member that is absent from `object`.
  JsonReader(const JsonReader& object, std::string_view absent);
  // Reports an error unless `fits` is true. Returns `fits`.
  [[nodiscard]] bool Expect(bool fits, std::string_view wanted) const;
  std::shared_ptr<Document> document_;
  std::size_t node_;     // index of the value, or, if it is absent, of the innermost enclosing
                         // value that is present
  bool present_ = true;  // false: there is no such member
  std::string absent_;   // path of the absent member below `node_`
};

}  // namespace pragma
