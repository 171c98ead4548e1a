#include "core/json_writer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"

namespace pragma {
namespace {

bool IsPlain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

void AppendEscape(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default: out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  }
}

void AppendEscaped(std::string& out, std::string_view text) {
  while (true) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, IsPlain) - text.begin());
    out += text.substr(0, plain);
    if (plain == text.size()) return;
    AppendEscape(out, text[plain]);
    text.remove_prefix(plain + 1);
  }
}

}  // namespace

void JsonWriter::Separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

JsonWriter& JsonWriter::Literal(std::string_view literal) {
  Separate();
  text_ += literal;
  return *this;
}

JsonWriter& JsonWriter::BeginObject() {
  Literal("{");
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  text_ += '}';
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  Literal("[");
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  text_ += ']';
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Value(name);
  text_ += ':';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Null() { return Literal("null"); }

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  text_ += '"';
  if (simdjson::validate_utf8(text.data(), text.size())) {  // nearly all text is valid
    AppendEscaped(text_, text);
  } else {
    AppendEscaped(text_, ToValidUtf8(text));
  }
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  std::string digits = fmt::format("{}", number);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return Literal(digits);
}

}  // namespace pragma
