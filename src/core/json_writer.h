// JsonWriter: writes JSON text from front to back. Invalid UTF-8 is repaired, and numbers that JSON
// cannot write (NaN, infinities) become null, so that the result always parses.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pragma {

class JsonWriter final {
 public:
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  // Writes the name of the next value. Allowed only inside an object.
  JsonWriter& Key(std::string_view name);

  JsonWriter& Null();
  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(const std::string& text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);  // always with a point or exponent, so that it is read back as
                                     // real
  template <std::integral T>
  JsonWriter& Value(T number) {
    if constexpr (std::same_as<T, bool>) return Literal(number ? "true" : "false");
    return Literal(std::to_string(number));
  }
  template <class T>
  JsonWriter& Value(const std::optional<T>& value) {
    return value ? Value(*value) : Null();
  }
  template <class T>
  JsonWriter& Value(const std::vector<T>& values) {
    BeginArray();
    for (const T& value : values) Value(value);
    return EndArray();
  }
  // Inserts text that is already JSON.
  JsonWriter& Raw(std::string_view json) { return Literal(json); }

  template <class T>
  JsonWriter& Field(std::string_view name, const T& value) {
    return Key(name).Value(value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Literal(std::string_view literal);
  void Separate();
  std::string text_;
  bool first_ = true;  // true: nothing is written yet in the innermost object or array, or a key
                       // was just written
};

}  // namespace pragma
