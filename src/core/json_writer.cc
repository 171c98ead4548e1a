#include "core/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/text.h"

namespace pragma {
namespace {

void AppendEscaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
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
  AppendEscaped(text_, ToValidUtf8(text));
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
