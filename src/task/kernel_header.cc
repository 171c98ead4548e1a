// KernelHeader: makes the kernel.h that a candidate includes (docs/design.md 4). It includes only
// <cstddef> and <cstdint>, because every build and every tuning variant parses it again.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

using Kind = ScalarValue::Kind;

constexpr int kAlignment = 64;         // bytes; alignment of the ring's tensors
constexpr int kDeviceAlignment = 512;  // bytes; alignment of tensors on a GPU:
                                       // pragma_torch/arena.py

// Names: makes each name of namespace task unique, because init arguments, call arguments and
// shapes may collide.
class Names final {
 public:
  std::string Unique(const std::string& wish) {
    std::string name = wish;
    for (int count = 2; !used_.insert(name).second; ++count)
      name = fmt::format("{}_{}", wish, count);
    return name;
  }

 private:
  std::set<std::string> used_;
};

std::string IntText(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
  return std::to_string(value);
}

std::string RealText(double value) {
  if (std::isnan(value)) return "__builtin_nan(\"\")";
  if (std::isinf(value)) return value > 0 ? "__builtin_inf()" : "-__builtin_inf()";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Returns a C++ string literal. Characters that are not plain ASCII become octal escapes, which
// cannot absorb the next character.
std::string StringText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?' || byte < 0x20 || byte > 0x7e) {
      quoted += fmt::format("\\{:03o}", byte);
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

// Returns untrusted text for a // comment: one line, without a backslash that would join the next
// line.
std::string CommentText(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain.push_back(byte < 0x20 || byte > 0x7e || c == '\\' ? ' ' : c);
  }
  return plain;
}

// Returns the kind that all items can be written as, or kNone.
Kind CommonKind(const std::vector<ScalarValue>& items) {
  const auto all = [&items](auto... kinds) {
    return std::ranges::all_of(
        items, [&](const ScalarValue& item) { return ((item.kind == kinds) || ...); });
  };
  if (all(Kind::kBool)) return Kind::kBool;
  if (all(Kind::kInt)) return Kind::kInt;
  if (all(Kind::kInt, Kind::kFloat)) return Kind::kFloat;
  if (all(Kind::kString)) return Kind::kString;
  return Kind::kNone;
}

std::string ItemText(const ScalarValue& value, Kind as) {
  switch (as) {
    case Kind::kBool: return value.integer != 0 ? "true" : "false";
    case Kind::kInt: return IntText(value.integer);
    case Kind::kFloat:
      return RealText(value.kind == Kind::kInt ? static_cast<double>(value.integer) : value.real);
    case Kind::kString: return StringText(value.text);
    case Kind::kNone:
    case Kind::kList:
    case Kind::kNode: break;
  }
  return {};
}

std::string_view TypeText(Kind kind) {
  switch (kind) {
    case Kind::kBool: return "bool";
    case Kind::kInt: return "std::int64_t";
    case Kind::kFloat: return "double";
    case Kind::kString: return "const char*";
    case Kind::kNone:
    case Kind::kList:
    case Kind::kNode: break;
  }
  return {};
}

bool Varies(const Task& task, const std::string& name) {
  return std::ranges::any_of(task.dims,
                             [&name](const VaryingSize& size) { return size.name == name; });
}

void WriteValue(std::string& out, Names& names, const std::string& name, const ScalarValue& value);

void WriteList(std::string& out, Names& names, const std::string& name, const ScalarValue& list) {
  if (list.items.empty()) {
    out += fmt::format("// {}: an empty list\n", name);
    return;
  }
  const Kind kind = CommonKind(list.items);
  if (kind == Kind::kNone) {
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      WriteValue(out, names, fmt::format("{}_{}", name, i), list.items[i]);
    }
    return;
  }
  std::string items;
  for (const ScalarValue& item : list.items) {
    items += (items.empty() ? "" : ", ") + ItemText(item, kind);
  }
  out += fmt::format("inline constexpr {} {}[] = {{{}}};\n", TypeText(kind), names.Unique(name),
                     items);
}

void WriteValue(std::string& out, Names& names, const std::string& name, const ScalarValue& value) {
  switch (value.kind) {
    case Kind::kNone:
    case Kind::kNode: out += fmt::format("// {}: None\n", name); return;
    case Kind::kList: WriteList(out, names, name, value); return;
    case Kind::kString:
      out += fmt::format("inline constexpr char {}[] = {};\n", names.Unique(name),
                         StringText(value.text));
      return;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      out += fmt::format("inline constexpr {} {} = {};\n", TypeText(value.kind), names.Unique(name),
                         ItemText(value, value.kind));
      return;
  }
}

void WriteValues(std::string& out, Names& names, std::string_view title, const Task& task,
                 const std::vector<NamedValue>& values) {
  if (values.empty()) return;
  out += fmt::format("// {}\n", title);
  for (const NamedValue& value : values) {
    if (Varies(task, value.name)) {
      out += fmt::format("// {0}: dims.{0}\n", value.name);
    } else {
      WriteValue(out, names, value.name, value.value);
    }
  }
}

void WriteShape(std::string& out, Names& names, const Task& task, const TensorSpec& tensor) {
  std::string sizes;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const bool varies = Varies(task, fmt::format("{}_{}", tensor.name, i));
    sizes += (sizes.empty() ? "" : ", ") + (varies ? "-1" : std::to_string(tensor.shape[i]));
  }
  const std::string_view form = tensor.complex         ? ", (real, imaginary) in the last dimension"
                                : tensor.shape.empty() ? ", a scalar"
                                                       : "";
  out += fmt::format("inline constexpr std::int64_t {}[] = {{{}}};  // {} {}{}\n",
                     names.Unique(tensor.name + "_dims"), sizes.empty() ? "1" : sizes,
                     TensorRoleName(tensor.role), CommentText(tensor.path), form);
}

void WriteDims(std::string& out, const Task& task) {
  if (task.dims.empty()) return;
  out += "// Sizes that vary from call to call; -1 above. x_0 is dimension 0 of x.\n";
  out += "struct Dims {\n";
  for (const VaryingSize& size : task.dims) out += fmt::format("  std::int64_t {};\n", size.name);
  out += "};\n";
}

void WriteNamespace(std::string& out, const Task& task, int alignment) {
  Names names;
  out += "namespace task {\n";
  WriteValues(out, names, "Constructor arguments of Model.", task, task.init_args);
  WriteValues(out, names, "Arguments of forward that are no tensors.", task, task.call_args);
  out += fmt::format(
      "// Shapes. All tensors are contiguous (last dimension fastest) and {}-byte aligned.\n",
      alignment);
  for (const TensorSpec& tensor : task.arguments) WriteShape(out, names, task, tensor);
  for (const TensorSpec& tensor : task.outputs) WriteShape(out, names, task, tensor);
  WriteDims(out, task);
  out += "}  // namespace task\n";
}

std::string Prototype(std::string_view name, const std::vector<std::string>& parameters) {
  return fmt::format("extern \"C\" void {}({});\n", name, fmt::join(parameters, ",\n    "));
}

std::string_view CudaTypeName(DType dtype) {
  if (dtype == DType::kFloat16) return "__half";
  return dtype == DType::kBFloat16 ? "__nv_bfloat16" : DTypeCppName(dtype);
}

void WriteLaunch(std::string& out, const Task& task) {
  std::vector<std::string> parameters;
  for (const TensorSpec& tensor : task.arguments) {
    parameters.push_back(fmt::format("const {}* {}", CudaTypeName(tensor.dtype), tensor.name));
  }
  for (const TensorSpec& tensor : task.outputs) {
    parameters.push_back(fmt::format("{}* {}", CudaTypeName(tensor.dtype), tensor.name));
  }
  parameters.emplace_back("void* scratch");
  parameters.emplace_back("cudaStream_t stream");
  out +=
      R"(// Launches the kernels, on the stream given, and returns; all tensors lie in the device's memory.
// scratch is null unless the source defines (and so asks for)
//   constinit const std::size_t pragma_scratch_bytes = ...;
extern "C" const std::size_t pragma_scratch_bytes;
)";
  out += Prototype("pragma_launch", parameters);
}

std::string Parameter(const TensorSpec& tensor, bool constant) {
  return fmt::format("{}{}* {}", constant ? "const " : "", DTypeCppName(tensor.dtype), tensor.name);
}

void WritePrototypes(std::string& out, const Task& task) {
  std::vector<std::string> plain;
  if (!task.dims.empty()) plain.emplace_back("const task::Dims& dims");
  std::vector<std::string> prepare = plain;
  for (const TensorSpec& tensor : task.arguments) {
    plain.push_back(Parameter(tensor, true));
    if (tensor.role != TensorRole::kInput) prepare.push_back(plain.back());
  }
  for (const TensorSpec& tensor : task.outputs) plain.push_back(Parameter(tensor, false));
  std::vector<std::string> packed = plain;
  plain.emplace_back("void* scratch");
  packed.emplace_back("const void* packed");
  packed.emplace_back("void* scratch");
  prepare.emplace_back("void* packed");
  out += R"(// The kernel. scratch is null unless the source defines (and so asks for)
//   constinit const std::size_t pragma_scratch_bytes = ...;
extern "C" const std::size_t pragma_scratch_bytes;
#ifndef PRAGMA_PREPACKED
)";
  out += Prototype("pragma_kernel", plain);
  out += R"(#else
// With `#define PRAGMA_PREPACKED` before the include: pragma_prepare runs after each change of
// parameters and is timed on its own; what it writes is what the kernel gets as packed. Needs
//   constinit const std::size_t pragma_packed_bytes = ...;
extern "C" const std::size_t pragma_packed_bytes;
)";
  out += Prototype("pragma_prepare", prepare) + Prototype("pragma_kernel", packed) + "#endif\n";
}

constexpr std::string_view kBf16 = R"(
// bfloat16: the upper half of a float.
struct pragma_bf16 {
  std::uint16_t bits;
};
inline float pragma_bf16_to_float(pragma_bf16 value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
}
// To nearest, ties to even, as torch rounds.
inline pragma_bf16 pragma_float_to_bf16(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  if (value != value) return {static_cast<std::uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}
)";

constexpr std::string_view kTune = R"(
// PRAGMA_TUNE(NAME, default, value, value, ...);  (with the semicolon) is an int constant that the
// tuner may set to any of the values (-DPRAGMA_TUNE_NAME=value).
namespace pragma_detail {
constexpr int tuned(const char* text, int otherwise) {
  const bool negative = *text == '-';
  const char* digit = negative ? text + 1 : text;
  if (*digit < '0' || *digit > '9') return otherwise;
  int value = 0;
  for (; *digit >= '0' && *digit <= '9'; ++digit) value = value * 10 + (*digit - '0');
  return negative ? -value : value;
}
}  // namespace pragma_detail
#define PRAGMA_TUNE_QUOTE_(x) #x
#define PRAGMA_TUNE_TEXT_(x) PRAGMA_TUNE_QUOTE_(x)
#define PRAGMA_TUNE(name, otherwise, ...) \
  [[maybe_unused]] static constexpr int name = \
      ::pragma_detail::tuned(PRAGMA_TUNE_TEXT_(PRAGMA_TUNE_##name), (otherwise))
)";

bool Uses(const Task& task, DType dtype) {
  const auto has = [dtype](const TensorSpec& tensor) { return tensor.dtype == dtype; };
  return std::ranges::any_of(task.arguments, has) || std::ranges::any_of(task.outputs, has);
}

// Returns whether an operator of the graph gives such a tensor (autocast does).
bool Computes(const Task& task, DType dtype) {
  const auto gives = [dtype](const GraphNode& node) {
    return std::ranges::find(node.results, dtype, &TensorSpec::dtype) != node.results.end();
  };
  return std::ranges::any_of(task.graph, gives);
}

}  // namespace

std::string CudaKernelHeader(const Task& task) {
  std::string out = fmt::format(
      "// kernel.h of task {} (CUDA, ABI version 1), written by pragma.\n", CommentText(task.name));
  out += "#pragma once\n\n";
  if (Uses(task, DType::kBFloat16)) out += "#include <cuda_bf16.h>\n";
  if (Uses(task, DType::kFloat16)) out += "#include <cuda_fp16.h>\n";
  out += "#include <cstddef>\n#include <cstdint>\n\n";
  WriteNamespace(out, task, kDeviceAlignment);
  out += "\n";
  WriteLaunch(out, task);
  out += kTune;
  return out;
}

std::string KernelHeader(const Task& task) {
  std::string out = fmt::format("// kernel.h of task {} (ABI version 1), written by pragma.\n",
                                CommentText(task.name));
  out += "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\n";
  WriteNamespace(out, task, kAlignment);
  if (Uses(task, DType::kBFloat16) || Computes(task, DType::kBFloat16)) out += kBf16;
  out += "\n";
  WritePrototypes(out, task);
  out += kTune;
  return out;
}

}  // namespace pragma
