#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/candidate.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

Task Scaled() {
  Task task;
  task.name = "scaled";
  task.init_args = {{"n", {.kind = ScalarValue::Kind::kInt, .integer = 40}},
                    {"eps", {.kind = ScalarValue::Kind::kFloat, .real = 1e-5}},
                    {"bias", {.kind = ScalarValue::Kind::kBool, .integer = 1}},
                    {"mode", {.kind = ScalarValue::Kind::kString, .text = "a\n\"b"}},
                    {"none", {}}};
  task.call_args = {{"dim", {.kind = ScalarValue::Kind::kInt, .integer = -1}}};
  task.arguments = {{"x", "args[0]", TensorRole::kInput, DType::kFloat32, {6, 40}},
                    {"lambda", "args[1]", TensorRole::kInput, DType::kInt64, {}}};
  task.outputs = {{"out", "output", TensorRole::kOutput, DType::kFloat16, {6, 40}}};
  return task;
}

TEST(InterfaceText, OfTritonIsTheHeadOfRun) {
  EXPECT_EQ(InterfaceText(Scaled(), Language::kTriton),
            "# Constructor arguments of Model: n = 40, eps = 1e-05, bias = True, mode = "
            "\"a\\n\\\"b\", none = None\n"
            "# Arguments of forward that are no tensors: dim = -1\n"
            "def run(\n"
            "    x,  # float32 [6, 40]: input\n"
            "    lambda_,  # int64 []: input\n"
            "    out,  # float16 [6, 40]: output\n"
            "):\n");
}

TEST(InterfaceText, SaysWhichTensorsAreComplex) {
  Task task = Scaled();
  task.outputs[0].complex = true;
  EXPECT_THAT(InterfaceText(task, Language::kTriton),
              HasSubstr("[6, 40]: output, (real, imaginary) in the last dimension\n"));
}

TEST(InterfaceText, SaysWhichSizesVary) {
  Task task = Scaled();
  task.dims = {
      {.name = "x_0", .value = 6}, {.name = "out_0", .value = 6}, {.name = "n", .value = 1}};
  const std::string text = InterfaceText(task, Language::kTriton);
  EXPECT_THAT(text, HasSubstr("float32 [any, 40]"));
  EXPECT_THAT(text, HasSubstr("n (varies from call to call)"));
}

TEST(InterfaceText, OfCompiledLanguagesIsTheirHeader) {
  EXPECT_EQ(InterfaceText(Scaled(), Language::kCpp), KernelHeader(Scaled()));
  EXPECT_EQ(InterfaceText(Scaled(), Language::kCuda), CudaKernelHeader(Scaled()));
  EXPECT_THAT(InterfaceText(Scaled(), Language::kCuda), Not(HasSubstr("pragma_kernel")));
}

}  // namespace
}  // namespace pragma
