#include "core/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace pragma {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kDeepest = 1000;
constexpr std::size_t kBytesOfNode = 16;  // rough number of bytes of a trial's JSON per node
constexpr std::size_t kReserved = 1024;   // most nodes reserved before parsing

// Node: one value of a document. Nodes are stored in document order, so the contents of a container
// follow it.
struct Node {
  JsonReader::Type type = JsonReader::Type::kNull;
  // uint64_t holds only integers that do not fit into int64_t. The parser owns the texts.
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string_view> value;
  std::string_view name;  // name of a member
  std::size_t end = 0;    // index of the node after its last descendant
};

using Nodes = std::vector<Node>;

// Makes a node without children. `element` must hold a T.
template <class T>
Node Leaf(JsonReader::Type type, const dom::element& element) {
  return {.type = type, .value = element.get<T>().value_unsafe(), .name = {}};
}

Node NodeOf(const dom::element& element) {
  using Type = JsonReader::Type;
  switch (element.type()) {
    case dom::element_type::OBJECT: return {.type = Type::kObject, .value = {}, .name = {}};
    case dom::element_type::ARRAY: return {.type = Type::kArray, .value = {}, .name = {}};
    case dom::element_type::STRING: return Leaf<std::string_view>(Type::kText, element);
    case dom::element_type::BOOL: return Leaf<bool>(Type::kBool, element);
    case dom::element_type::INT64: return Leaf<std::int64_t>(Type::kInteger, element);
    case dom::element_type::UINT64: return Leaf<std::uint64_t>(Type::kInteger, element);
    case dom::element_type::DOUBLE: return Leaf<double>(Type::kReal, element);
    case dom::element_type::NULL_VALUE: break;
  }
  return {};
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parser allows
void Append(Nodes& nodes, const dom::element& element, std::string_view name) {
  const std::size_t at = nodes.size();
  nodes.push_back(NodeOf(element));
  nodes[at].name = name;
  dom::object object;
  dom::array array;
  if (element.get(object) == simdjson::SUCCESS) {
    for (const auto& member : object) Append(nodes, member.value, member.key);
  } else if (element.get(array) == simdjson::SUCCESS) {
    for (const dom::element item : array) Append(nodes, item, {});
  }
  nodes[at].end = nodes.size();
}

// Explains what simdjson refused. simdjson does not report the position, so the other parser is
// asked for it.
std::string Refusal(std::string_view text) {
  try {
    [[maybe_unused]] const auto accepted = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return "is not JSON (at byte " + std::to_string(error.byte) + ")";
  } catch (const std::exception&) {  // a number out of range
    return "is not JSON that can be read";
  }
  return "is not JSON that can be read: a number has too many digits, or it is nested too deeply";
}

std::string Below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string PathOf(const Nodes& nodes, std::size_t node) {
  std::string path;
  for (std::size_t around = 0; around != node;) {
    std::size_t index = 0;
    std::size_t inside = around + 1;
    for (; nodes[inside].end <= node; inside = nodes[inside].end) ++index;
    path = nodes[around].type == JsonReader::Type::kArray ? path + "[" + std::to_string(index) + "]"
                                                          : Below(path, nodes[inside].name);
    around = inside;
  }
  return path;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parser allows
nlohmann::json ToNlohmann(const Nodes& nodes, std::size_t at) {
  using Json = nlohmann::json;
  const Node& node = nodes[at];
  const bool list = node.type == JsonReader::Type::kArray;
  if (list || node.type == JsonReader::Type::kObject) {
    Json value = list ? Json::array() : Json::object();
    for (std::size_t in = at + 1; in < node.end; in = nodes[in].end) {
      Json& place = list ? value.emplace_back() : value[std::string(nodes[in].name)];
      place = ToNlohmann(nodes, in);
    }
    return value;
  }
  return std::visit(
      [](const auto& leaf) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, std::monostate>) {
          return nullptr;
        } else {
          return leaf;
        }
      },
      node.value);
}

}  // namespace

struct JsonReader::Document {
  dom::parser parser;
  Nodes nodes;
  std::string what;
  std::optional<Error> error;
};

JsonReader::JsonReader(std::shared_ptr<Document> document, std::size_t node)
    : document_(std::move(document)), node_(node) {}

JsonReader::JsonReader(const JsonReader& object, std::string_view absent)
    : document_(object.document_),
      node_(object.node_),
      present_(false),
      absent_(Below(object.absent_, absent)) {}

Result<JsonReader> JsonReader::Parse(std::string_view text, std::string_view what) {
  auto document = std::make_shared<Document>();
  document->what = what;
  std::string_view json = text;
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  dom::element root;
  if (document->parser.allocate(json.size(), kDeepest) != simdjson::SUCCESS ||
      document->parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) {
    return Fail(document->what + " " + Refusal(text));
  }
  document->nodes.reserve(std::min(json.size() / kBytesOfNode, kReserved));
  Append(document->nodes, root, {});
  return JsonReader(std::move(document), 0);
}

JsonReader::Type JsonReader::type() const {
  return present_ ? document_->nodes[node_].type : Type::kNull;
}

JsonReader JsonReader::operator[](std::string_view name) const {
  if (type() != Type::kObject) return {*this, name};
  const Nodes& nodes = document_->nodes;
  std::size_t found = 0;
  for (std::size_t at = node_ + 1; at < nodes[node_].end; at = nodes[at].end) {
    if (nodes[at].name == name) found = at;
  }
  if (found == 0) return {*this, name};
  return {document_, found};
}

std::vector<JsonReader> JsonReader::items() const {
  std::vector<JsonReader> result;
  if (null() || !Expect(type() == Type::kArray, "a list")) return result;
  const Nodes& nodes = document_->nodes;
  for (std::size_t at = node_ + 1; at < nodes[node_].end; at = nodes[at].end)
    result.push_back(JsonReader(document_, at));
  return result;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> result;
  if (null() || !Expect(type() == Type::kObject, "an object")) return result;
  const Nodes& nodes = document_->nodes;
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t at = node_ + 1; at < nodes[node_].end; at = nodes[at].end)
    by_name[nodes[at].name] = at;
  for (const auto& [name, at] : by_name) result.emplace_back(name, JsonReader(document_, at));
  return result;
}

void JsonReader::Get(std::string& out) const {
  if (null() || !Expect(type() == Type::kText, "text")) return;
  out = std::get<std::string_view>(document_->nodes[node_].value);
}

void JsonReader::Get(double& out) const {
  if (null()) {
    if (present_) out = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  if (!Expect(type() == Type::kInteger || type() == Type::kReal, "a number")) return;
  std::visit(
      [&out](const auto& number) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(number)>>)
          out = static_cast<double>(number);
      },
      document_->nodes[node_].value);
}

void JsonReader::Get(std::int64_t& out) const {
  if (null()) return;
  if (const auto* number = std::get_if<std::int64_t>(&document_->nodes[node_].value)) {
    out = *number;
  } else {
    Complain("should be a whole number");
  }
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
  out = std::get<bool>(document_->nodes[node_].value);
}

bool JsonReader::Expect(bool fits, std::string_view wanted) const {
  if (!fits) Complain("should be " + std::string(wanted));
  return fits;
}

void JsonReader::Complain(const std::string& problem) const {
  if (document_->error) return;
  std::string where = PathOf(document_->nodes, node_);
  if (!present_) where = Below(where, absent_);
  if (!where.empty()) where += ": ";
  document_->error = Error{ErrorKind::kInternal, document_->what + ": " + where + problem};
}

Result<void> JsonReader::status() const {
  const std::optional<Error>& error = document_->error;
  if (error) return std::unexpected(*error);
  return {};
}

std::string JsonReader::Dump() const {
  if (!present_) return "null";
  return ToNlohmann(document_->nodes, node_)
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace pragma
