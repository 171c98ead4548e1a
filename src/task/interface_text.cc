// What authors of candidates are shown of a task's arguments: kernel.h, or the head of a Triton
// module's function run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/candidate.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

// Keywords of Python that are not keywords of C++. No argument has a C++ keyword as its name.
constexpr std::array<std::string_view, 23> kPythonKeywords{
    "False", "None",   "True",     "as",      "assert", "async",  "await",  "def",
    "del",   "elif",   "except",   "finally", "from",   "global", "import", "in",
    "is",    "lambda", "nonlocal", "pass",    "raise",  "with",   "yield"};

std::string PythonName(const std::string& name) {
  const bool taken = std::ranges::find(kPythonKeywords, name) != kPythonKeywords.end();
  return taken ? name + "_" : name;
}

std::string PythonReal(double value) {
  if (std::isfinite(value)) {
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  if (std::isnan(value)) return "float('nan')";
  return value > 0 ? "float('inf')" : "-float('inf')";
}

// Returns the value on one line, whatever it holds.
std::string PythonValue(const ScalarValue& value) {
  switch (value.kind) {
    case ScalarValue::Kind::kBool: return value.integer != 0 ? "True" : "False";
    case ScalarValue::Kind::kInt: return std::to_string(value.integer);
    case ScalarValue::Kind::kFloat: return PythonReal(value.real);
    case ScalarValue::Kind::kString: return fmt::format("{:?}", ToValidUtf8(value.text));
    case ScalarValue::Kind::kList: {
      std::vector<std::string> items;
      for (const ScalarValue& item : value.items) items.push_back(PythonValue(item));
      return "[" + Join(items, ", ") + "]";
    }
    case ScalarValue::Kind::kNone:
    case ScalarValue::Kind::kNode: break;
  }
  return "None";
}

bool IsVarying(const Task& task, const std::string& name) {
  return std::ranges::find(task.dims, name, &VaryingSize::name) != task.dims.end();
}

std::string PythonValues(const Task& task, std::string_view title,
                         const std::vector<NamedValue>& values) {
  std::vector<std::string> parts;
  for (const NamedValue& value : values) {
    parts.push_back(value.name + (IsVarying(task, value.name) ? " (varies from call to call)"
                                                              : " = " + PythonValue(value.value)));
  }
  return parts.empty() ? "" : fmt::format("# {}: {}\n", title, fmt::join(parts, ", "));
}

std::string PythonParameter(const Task& task, const TensorSpec& tensor) {
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const bool varies = IsVarying(task, fmt::format("{}_{}", tensor.name, i));
    sizes.push_back(varies ? "any" : std::to_string(tensor.shape[i]));
  }
  return fmt::format("    {},  # {} [{}]: {}{}\n", PythonName(tensor.name), DTypeName(tensor.dtype),
                     fmt::join(sizes, ", "), TensorRoleName(tensor.role),
                     tensor.complex ? ", (real, imaginary) in the last dimension" : "");
}

std::string TritonInterface(const Task& task) {
  std::string text = PythonValues(task, "Constructor arguments of Model", task.init_args) +
                     PythonValues(task, "Arguments of forward that are no tensors", task.call_args);
  text += "def run(\n";
  for (const TensorSpec& tensor : task.arguments) text += PythonParameter(task, tensor);
  for (const TensorSpec& tensor : task.outputs) text += PythonParameter(task, tensor);
  return text + "):\n";
}

}  // namespace

std::string InterfaceText(const Task& task, Language language) {
  if (language == Language::kTriton) return TritonInterface(task);
  return language == Language::kCuda ? CudaKernelHeader(task) : KernelHeader(task);
}

}  // namespace pragma
