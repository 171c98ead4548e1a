#include "task/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "core/task.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostShapes = 32;
constexpr std::string_view kHeldOut = "held_out";

std::unexpected<Error> Bad(const std::string& name, const std::string& problem) {
  return Fail(ErrorKind::kUsage,
              name + ": " + problem +
                  "; it must hold an array of objects such as {\"n\": 64, \"held_out\": true}, "
                  "whose names are numbers at the top level of the task's file");
}

Result<ShapeSet> ReadShape(const Json& object, const std::string& name) {
  ShapeSet shape;
  if (!object.is_object()) return Bad(name, "an entry is not an object");
  for (const auto& [key, value] : object.items()) {
    if (key == kHeldOut && value.is_boolean()) {
      shape.held_out = value.get<bool>();
    } else if (value.is_number_integer()) {
      shape.numbers[key] = value.get<std::int64_t>();
    } else {
      return Bad(name, "\"" + ToValidUtf8(Shorten(key, 60)) + "\" is not an integer");
    }
  }
  if (shape.numbers.empty()) return Bad(name, "an entry changes nothing");
  return shape;
}

// Returns whether the line assigns `name` at the top level: "name = ...", "name: int = ...".
bool Assigns(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return false;
  std::size_t at = line.find_first_not_of(" \t", name.size());
  if (at == std::string_view::npos) return false;
  if (line[at] == ':') at = line.find('=', at);
  return at != std::string_view::npos && line[at] == '=' && !line.substr(at).starts_with("==");
}

// Returns whether the value ends in this line. A value that continues in the next line cannot be
// replaced by replacing this line.
bool EndsHere(std::string_view line) {
  const std::string_view code = line.substr(0, line.find('#'));
  const auto count = [code](std::string_view marks) {
    return std::ranges::count_if(code, [marks](char c) { return marks.contains(c); });
  };
  return count("([{") == count(")]}") && !code.ends_with('\\');
}

std::string Differs(const std::string& label, const std::string& what) {
  return "with " + label + " " + what;
}

bool SameButForSizes(const TensorSpec& a, const TensorSpec& b) {
  return a.name == b.name && a.role == b.role && a.dtype == b.dtype &&
         a.shape.size() == b.shape.size();
}

// Comparing: compares tasks and collects the sizes that vary.
class Comparing final {
 public:
  Comparing(std::span<const Task* const> tasks, std::span<const std::string> labels)
      : tasks_(tasks), labels_(labels), found_(tasks.size()) {}

  Result<std::vector<std::vector<VaryingSize>>> Run() {
    TRY(Tensors(&Task::arguments));
    TRY(Tensors(&Task::outputs));
    TRY(Values(&Task::init_args));
    TRY(Values(&Task::call_args));
    if (found_.front().empty()) return Fail(ErrorKind::kTask, "no size differs between the shapes");
    return std::move(found_);
  }

 private:
  Result<void> Tensors(std::vector<TensorSpec> Task::* tensors) {
    const std::vector<TensorSpec>& first = tasks_.front()->*tensors;
    for (std::size_t t = 1; t < tasks_.size(); ++t) {
      const std::vector<TensorSpec>& other = tasks_[t]->*tensors;
      if (!std::ranges::equal(first, other, SameButForSizes)) {
        return Fail(ErrorKind::kTask,
                    Differs(labels_[t],
                            "the task has other tensors than as written: only their "
                            "sizes may differ, not their number, types or ranks"));
      }
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      for (std::size_t k = 0; k < first[i].shape.size(); ++k) {
        Add(fmt::format("{}_{}", first[i].name, k),
            [=](const Task& task) { return (task.*tensors)[i].shape[k]; });
      }
    }
    return {};
  }

  Result<void> Values(std::vector<NamedValue> Task::* values) {
    const std::vector<NamedValue>& first = tasks_.front()->*values;
    for (std::size_t i = 0; i < first.size(); ++i) {
      for (std::size_t t = 1; t < tasks_.size(); ++t) {
        const std::vector<NamedValue>& other = tasks_[t]->*values;
        if (other.size() != first.size() || other[i].name != first[i].name ||
            !OnlyNumbersDiffer(first[i].value, other[i].value)) {
          return Fail(ErrorKind::kTask, Differs(labels_[t], "the argument " + first[i].name +
                                                                " differs in more than a number"));
        }
      }
      if (first[i].value.kind != ScalarValue::Kind::kInt) continue;
      Add(first[i].name, [=](const Task& task) { return (task.*values)[i].value.integer; });
    }
    return {};
  }

  static bool OnlyNumbersDiffer(const ScalarValue& a, const ScalarValue& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == ScalarValue::Kind::kInt) return true;
    return a.integer == b.integer && a.real == b.real && a.text == b.text &&
           std::ranges::equal(a.items, b.items, [](const ScalarValue& x, const ScalarValue& y) {
             return OnlyNumbersDiffer(x, y) && x.integer == y.integer;
           });
  }

  template <class Get>
  void Add(const std::string& name, const Get& get) {
    const std::int64_t first = get(*tasks_.front());
    if (std::ranges::all_of(tasks_, [&](const Task* task) { return get(*task) == first; })) return;
    const auto same = [&name](const VaryingSize& size) { return size.name == name; };
    if (std::ranges::any_of(found_.front(), same)) return;
    for (std::size_t t = 0; t < tasks_.size(); ++t) found_[t].push_back({name, get(*tasks_[t])});
  }

  std::span<const Task* const> tasks_;
  std::span<const std::string> labels_;
  std::vector<std::vector<VaryingSize>> found_;
};

}  // namespace

std::string ShapeSet::label() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : numbers) parts.push_back(fmt::format("{}={}", name, value));
  return Join(parts, ", ");
}

Result<std::vector<ShapeSet>> ParseShapes(std::string_view text, const std::string& name) {
  const Json array = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!array.is_array() || array.empty()) return Bad(name, "the file contains no shapes");
  if (array.size() > kMostShapes)
    return Bad(name, fmt::format("the file contains more than {} shapes", kMostShapes));
  std::vector<ShapeSet> shapes;
  for (const Json& object : array) shapes.push_back(TRY(ReadShape(object, name)));
  return shapes;
}

Result<std::string> WithShape(const std::string& source, const ShapeSet& shape) {
  std::vector<std::string> lines = Split(source, '\n');
  for (const auto& [name, value] : shape.numbers) {
    bool found = false;
    for (std::string& line : lines) {
      if (!Assigns(line, name) || !EndsHere(line)) continue;
      line = fmt::format("{} = {}", name, value);
      found = true;
    }
    if (found) continue;
    return Fail(ErrorKind::kUsage, "the task's file has no line \"" + name +
                                       " = ...\" at its top level, so its shape cannot be varied "
                                       "by it");
  }
  return Join(lines, "\n");
}

Result<std::vector<std::vector<VaryingSize>>> FindVaryingSizes(
    std::span<const Task* const> tasks, std::span<const std::string> labels) {
  return Comparing(tasks, labels).Run();
}

}  // namespace pragma
