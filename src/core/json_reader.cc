#include "core/json_reader.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pragma {
namespace {

using nlohmann::json;

const json& Node(const void* node) { return *static_cast<const json*>(node); }

std::optional<std::int64_t> WholeNumber(const json& node) {
  if (node.is_number_unsigned() &&
      node.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  if (node.is_number_integer()) return node.get<std::int64_t>();
  return std::nullopt;
}

}  // namespace

struct JsonReader::Document {
  json root;
  std::string what;
  std::optional<Error> error;
};

JsonReader::JsonReader(std::shared_ptr<Document> document, const void* node, bool present,
                       std::string path)
    : document_(std::move(document)), node_(node), present_(present), path_(std::move(path)) {}

Result<JsonReader> JsonReader::Parse(std::string_view text, std::string_view what) {
  auto document = std::make_shared<Document>();
  document->what = what;
  try {
    document->root = json::parse(text);
  } catch (const json::parse_error& error) {
    return Fail(std::string(what) + " is not JSON (at byte " + std::to_string(error.byte) + ")");
  } catch (const std::exception&) {  // a number out of range
    return Fail(std::string(what) + " is not JSON that can be read");
  }
  const json* root = &document->root;
  return JsonReader(std::move(document), root, true, "");
}

JsonReader::Type JsonReader::type() const {
  if (node_ == nullptr) return Type::kNull;
  switch (Node(node_).type()) {
    case json::value_t::object: return Type::kObject;
    case json::value_t::array: return Type::kArray;
    case json::value_t::string: return Type::kText;
    case json::value_t::boolean: return Type::kBool;
    case json::value_t::number_integer:
    case json::value_t::number_unsigned: return Type::kInteger;
    case json::value_t::number_float: return Type::kReal;
    case json::value_t::null:
    case json::value_t::binary:
    case json::value_t::discarded: return Type::kNull;
  }
  return Type::kNull;
}

JsonReader JsonReader::operator[](std::string_view name) const {
  std::string path = path_.empty() ? std::string(name) : path_ + "." + std::string(name);
  if (type() != Type::kObject) return {document_, nullptr, false, std::move(path)};
  const json& object = Node(node_);
  const auto found = object.find(name);
  if (found == object.end()) return {document_, nullptr, false, std::move(path)};
  return {document_, &*found, true, std::move(path)};
}

std::vector<JsonReader> JsonReader::items() const {
  std::vector<JsonReader> result;
  if (null() || !Expect(type() == Type::kArray, "a list")) return result;
  for (const json& item : Node(node_)) {
    result.push_back(
        JsonReader(document_, &item, true, path_ + "[" + std::to_string(result.size()) + "]"));
  }
  return result;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> result;
  if (null() || !Expect(type() == Type::kObject, "an object")) return result;
  for (const auto& [name, value] : Node(node_).items()) {
    result.emplace_back(name, JsonReader(document_, &value, true, path_ + "." + name));
  }
  return result;
}

void JsonReader::Get(std::string& out) const {
  if (null() || !Expect(type() == Type::kText, "text")) return;
  out = Node(node_).get_ref<const std::string&>();
}

void JsonReader::Get(double& out) const {
  if (null()) {
    if (present_) out = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  if (Expect(Node(node_).is_number(), "a number")) out = Node(node_).get<double>();
}

void JsonReader::Get(std::int64_t& out) const {
  if (null()) return;
  const std::optional<std::int64_t> number = WholeNumber(Node(node_));
  out = number.value_or(out);
  if (!number) Complain("should be a whole number");
}

void JsonReader::Get(std::size_t& out) const {
  std::int64_t number = 0;
  if (null()) return;
  Get(number);
  if (Expect(number >= 0, "not negative")) out = static_cast<std::size_t>(number);
}

void JsonReader::Get(int& out) const {
  std::int64_t number = out;
  Get(number);
  if (Expect(number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max(),
             "a smaller number")) {
    out = static_cast<int>(number);
  }
}

void JsonReader::Get(bool& out) const {
  if (null() || !Expect(type() == Type::kBool, "true or false")) return;
  out = Node(node_).get<bool>();
}

bool JsonReader::Expect(bool fits, std::string_view wanted) const {
  if (!fits) Complain("should be " + std::string(wanted));
  return fits;
}

void JsonReader::Complain(const std::string& problem) const {
  if (document_->error) return;
  const std::string where = path_.empty() ? "" : path_ + ": ";
  document_->error = Error{ErrorKind::kInternal, document_->what + ": " + where + problem};
}

Result<void> JsonReader::status() const {
  const std::optional<Error>& error = document_->error;
  if (error) return std::unexpected(*error);
  return {};
}

std::string JsonReader::Dump() const {
  if (node_ == nullptr) return "null";
  return Node(node_).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace pragma
