// Task: the description of a PyTorch file in KernelBench's format. A plain value: nothing here runs
// Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kBFloat16,
  kFloat16,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kBool,
};
[[nodiscard]] std::size_t DTypeSize(DType dtype);          // bytes per element
[[nodiscard]] std::string_view DTypeName(DType dtype);     // PyTorch's name: "float32"
[[nodiscard]] std::string_view DTypeCppName(DType dtype);  // "float", "std::int64_t", "pragma_bf16"
[[nodiscard]] std::optional<DType> DTypeFromName(std::string_view name);  // "float32" -> kFloat32
[[nodiscard]] bool IsFloating(DType dtype);

enum class TensorRole : std::uint8_t { kInput, kParameter, kBuffer, kConstant, kOutput };
[[nodiscard]] std::string_view TensorRoleName(TensorRole role);

struct TensorSpec {
  std::string name;  // name of the kernel's argument: a C++ identifier, unique in the task
  std::string path;  // origin of the tensor: "conv1d.weight", "args[0]", "output"
  TensorRole role = TensorRole::kInput;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;  // empty: a scalar tensor
  std::string constant;  // a small constant that forward makes: its bytes in hexadecimal; or empty
  // The module's own tensor is complex. A kernel gets real numbers: the last dimension, of size 2,
  // holds the real and the imaginary part.
  bool complex = false;
  [[nodiscard]] std::size_t elements() const;
  [[nodiscard]] std::size_t bytes() const;
};

// ScalarValue: a value that is not a tensor, such as an init argument, a scalar argument of forward
// or an operator's argument.
struct ScalarValue {
  enum class Kind : std::uint8_t { kNone, kBool, kInt, kFloat, kString, kList, kNode };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;  // kBool (0, 1) and kInt
  double real = 0;           // kFloat
  std::string text;          // text of kString; name of the node for kNode
  std::vector<ScalarValue> items;
};

struct NamedValue {
  std::string name;
  ScalarValue value;
};

// GraphNode: one operator of the ATen graph (torch.export). Nodes are in execution order.
struct GraphNode {
  std::string name;
  std::string op;  // "aten.convolution.default", "placeholder", "output"
  std::vector<ScalarValue> args;
  std::vector<NamedValue> kwargs;
  // Results of the node and the strides of each. Empty when the node yields no tensor.
  std::vector<TensorSpec> results;
  std::vector<std::vector<std::int64_t>> strides;
};

// VaryingSize: a size that differs between the shapes a kernel is judged on (--shapes). It is a
// field of task::Dims.
struct VaryingSize {
  std::string name;  // "x_0" for dimension 0 of the tensor x, or the name of an argument of Model
                     // or forward
  std::int64_t value = 0;
};

struct Task {
  std::string name;      // file name without ".py"
  std::string sha256;    // hash of the source, which identifies the task
  std::string source;    // text of the file
  std::string category;  // matmul, activation, normalization, pooling_reduction, convolution, other
  std::string lint;      // verdict of the linter: sound, weak, degenerate; empty: not linted
  // Arguments of the kernel in order: inputs, then parameters, buffers and constants.
  std::vector<TensorSpec> arguments;
  std::vector<TensorSpec> outputs;
  std::string output_kind;  // "tensor", "tuple", "list", "tree"
  std::string output_tree;  // for "tree": the form of what forward returns, as the text
                            // that python/pragma_torch/tree.py reads
  // Names of the arguments that forward changes and a caller can see. Their new contents are the
  // last outputs, in this order.
  std::vector<std::string> updates;
  std::vector<NamedValue> init_args;  // constructor arguments by name
  std::vector<NamedValue> call_args;  // arguments of forward that are not tensors
  std::vector<VaryingSize> dims;      // empty: there is one shape, known when the kernel is
                                      // compiled
  double flops = 0;  // FLOPs of the task as written (torch.utils.flop_counter plus one per
                     // pointwise element)
  std::size_t compulsory_bytes = 0;  // bytes moved when each argument is read once and each output
                                     // is written once
  std::size_t peak_bytes = 0;    // bytes of results that live at the same time inside forward, at
                                 // most; 0: not known
  std::vector<GraphNode> graph;  // empty when torch.export failed
  std::string export_error;      // reason why torch.export failed, in one line
  bool random = false;           // true: live dropout or other random draws; unsupported
  bool stateful = false;         // true: forward updates buffers (running statistics are not
                                 // outputs, others are: `updates`)
  bool training = true;          // mode of the module: after train(), or after eval()
  bool mode_matters = false;     // true: its results depend on the mode (batch norm, dropout)
  // Number of terms that flow into one output element. The error bound depends on it.
  std::int64_t reduction_length = 1;
  std::vector<std::string> notes;  // for people and prompts: tied tensors, state_dict fallback, ...
  // Returns the bytes of one input set of the ring: every argument, with its own copy of the
  // parameters, and the outputs.
  [[nodiscard]] std::size_t set_bytes() const;
  [[nodiscard]] std::string_view mode() const { return training ? "training" : "eval"; }
};

}  // namespace pragma
