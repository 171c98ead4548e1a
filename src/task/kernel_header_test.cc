// Tests kernel.h with real compilers and against goldens (PRAGMA_UPDATE_GOLDEN=1 rewrites them).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = ScalarValue::Kind;

ScalarValue Int(std::int64_t value) { return {.kind = Kind::kInt, .integer = value}; }
ScalarValue Bool(bool value) { return {.kind = Kind::kBool, .integer = value ? 1 : 0}; }
ScalarValue Real(double value) { return {.kind = Kind::kFloat, .real = value}; }
ScalarValue Text(std::string text) { return {.kind = Kind::kString, .text = std::move(text)}; }
ScalarValue List(std::vector<ScalarValue> items) {
  return {.kind = Kind::kList, .items = std::move(items)};
}

Task Convolution() {
  Task task;
  task.name = "conv1d";
  task.arguments = {
      {"x", "args[0]", TensorRole::kInput, DType::kFloat32, {16, 3, 512}},
      {"conv1d_weight", "conv1d.weight", TensorRole::kParameter, DType::kFloat32, {64, 3, 3}},
      {"conv1d_bias", "conv1d.bias", TensorRole::kParameter, DType::kFloat32, {64}}};
  task.outputs = {{"out", "output", TensorRole::kOutput, DType::kFloat32, {16, 64, 510}}};
  task.init_args = {{"in_channels", Int(3)}, {"out_channels", Int(64)}, {"kernel_size", Int(3)}};
  return task;
}

// Returns a task with every type, every kind of value, and text that must not break out of its
// place.
Task Everything() {
  Task task;
  task.name = "odd\nname */ \\";
  for (int i = 0; i < 10; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string name = "in_" + std::to_string(i);
    task.arguments.push_back({name, "args\n[\\", TensorRole::kInput, dtype, {2, 3}});
  }
  task.arguments.push_back({"n", "n", TensorRole::kBuffer, DType::kInt64, {}});
  task.outputs = {{"out_0", "output[0]", TensorRole::kOutput, DType::kBFloat16, {0, 3}},
                  {"out_1", "output[1]", TensorRole::kOutput, DType::kBool, {}}};
  task.init_args = {{"n_dims", Int(std::numeric_limits<std::int64_t>::min())},
                    {"eps", Real(1e-5)},
                    {"one", Real(1)},
                    {"huge", Real(std::numeric_limits<double>::infinity())},
                    {"nothing", {}},
                    {"mode", Text("a\"b\\\n\xc3\xa9?\?=7")},
                    {"sizes", List({Int(1), Int(2)})},
                    {"mixed", List({Int(1), Real(0.5)})},
                    {"flags", List({Bool(true), Bool(false)})},
                    {"names", List({Text("x"), Text("y")})},
                    {"nested", List({List({Int(1)}), Text("z"), {}})},
                    {"empty", List({})}};
  task.call_args = {{"eps", Real(std::numeric_limits<double>::quiet_NaN())}, {"keep", Bool(true)}};
  return task;
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(PRAGMA_SOURCE_DIR) / "src/task/golden" / name;
  if (std::getenv("PRAGMA_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(MakeDirectories(path.parent_path()));
    ASSERT_TRUE(WriteFileAtomic(path, text));
  }
  const Result<std::string> golden = ReadFile(path);
  ASSERT_TRUE(golden) << golden.error().message << " (PRAGMA_UPDATE_GOLDEN=1 writes it)";
  EXPECT_EQ(*golden, text);
}

// Compiles `source` together with the task's kernel.h. Returns the compiler's messages, which are
// empty when it accepts the source.
std::string Complaints(const std::string& compiler, const Task& task, const std::string& source,
                       const std::vector<std::string>& flags = {}) {
  const TempDir folder = std::move(*TempDir::Create());
  EXPECT_TRUE(WriteFileAtomic(folder.path() / "kernel.h", KernelHeader(task)));
  EXPECT_TRUE(WriteFileAtomic(folder.path() / "kernel.cpp", source));
  ProcessSpec spec;
  spec.argv = {compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"};
  spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
  spec.argv.emplace_back("kernel.cpp");
  spec.cwd = folder.path();
  spec.inherit_env = true;
  const Result<RunResult> run = RunProcess(spec, {});
  if (!run) return run.error().message;
  return run->status.ok() ? "" : "fails: " + run->err;
}

class KernelHeaderTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::system((std::string(GetParam()) + " --version >/dev/null 2>&1").c_str()) != 0) {
      GTEST_SKIP() << GetParam() << " is not installed";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, KernelHeaderTest, testing::Values("g++", "clang++-19"),
                         [](const auto& given) { return given.param[0] == 'g' ? "gcc" : "clang"; });

TEST_P(KernelHeaderTest, AKernelCompilesAgainstIt) {
  const std::string kernel = R"(
#include "kernel.h"
PRAGMA_TUNE(TILE, 6, 4, 6, 8);
static_assert(TILE == 6 && task::x_dims[2] == 512 && task::out_channels == 64);
constinit const std::size_t pragma_scratch_bytes = TILE * 64;
extern "C" void pragma_kernel(const float* __restrict x, const float* w, const float* b,
                              float* out, void* scratch) {
  PRAGMA_TUNE(INNER, -1);
  static_assert(INNER == -1);
  (void)scratch;
  out[0] = x[0] * w[0] + b[0];
}
)";
  EXPECT_EQ(Complaints(GetParam(), Convolution(), kernel), "");
  EXPECT_THAT(Complaints(GetParam(), Convolution(),
                         "#include \"kernel.h\"\nextern \"C\" void "
                         "pragma_kernel(const float* x, float* out) {}"),
              HasSubstr("fails"));
}

TEST_P(KernelHeaderTest, TunablesAreSetOnTheCommandLine) {
  const std::string kernel = R"(
#include "kernel.h"
PRAGMA_TUNE(TILE, 6, 4, 6, 8);
static_assert(TILE == WANTED);
)";
  EXPECT_EQ(Complaints(GetParam(), Convolution(), kernel, {"-DWANTED=6"}), "");
  EXPECT_EQ(Complaints(GetParam(), Convolution(), kernel, {"-DPRAGMA_TUNE_TILE=12", "-DWANTED=12"}),
            "");
  EXPECT_EQ(Complaints(GetParam(), Convolution(), kernel, {"-DPRAGMA_TUNE_TILE=-3", "-DWANTED=-3"}),
            "");
}

TEST_P(KernelHeaderTest, PackedKernelsHaveTheirOwnPrototypes) {
  const std::string kernel = R"(
#define PRAGMA_PREPACKED
#include "kernel.h"
constinit const std::size_t pragma_packed_bytes = 64;
extern "C" void pragma_prepare(const float* w, const float*, void* packed) {
  *static_cast<float*>(packed) = w[0];
}
extern "C" void pragma_kernel(const float* x, const float*, const float*, float* out,
                              const void* packed, void*) {
  out[0] = x[0] * *static_cast<const float*>(packed);
}
)";
  EXPECT_EQ(Complaints(GetParam(), Convolution(), kernel), "");
}

TEST_P(KernelHeaderTest, EveryTypeAndValueIsValidCpp) {
  const std::string use = R"(
#include "kernel.h"
static_assert(task::sizes[1] == 2 && task::mixed[1] == 0.5 && task::flags[0]);
static_assert(task::nested_0[0] == 1 && task::nested_1[0] == 'z' && task::keep);
static_assert(task::n_dims < 0 && task::n_dims_2[0] == 1 && task::eps_2 != task::eps_2);
static_assert(task::mode[0] == 'a' && task::mode[1] == '"' && sizeof(task::mode) == 12);
float round_trip(float x) { return pragma_bf16_to_float(pragma_float_to_bf16(x)); }
)";
  EXPECT_EQ(Complaints(GetParam(), Everything(), use), "");
}

TEST(KernelHeader, Goldens) {
  ExpectGolden("conv1d.kernel.h", KernelHeader(Convolution()));
  ExpectGolden("everything.kernel.h", KernelHeader(Everything()));
}

TEST(KernelHeader, OfCudaHasItsEntryAndTypes) {
  ExpectGolden("conv1d.cuda.kernel.h", CudaKernelHeader(Convolution()));
  const std::string header = CudaKernelHeader(Everything());
  EXPECT_THAT(header, HasSubstr("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"));
  EXPECT_THAT(header, HasSubstr("const __half* in_3,"));
  EXPECT_THAT(header, HasSubstr("__nv_bfloat16* out_0,"));
  EXPECT_THAT(header, Not(HasSubstr("pragma_bf16")));
  EXPECT_THAT(header, Not(HasSubstr("pragma_kernel")));
}

TEST(KernelHeader, SaysWhichTensorsAreComplex) {
  Task task = Convolution();
  task.arguments[0].complex = true;
  EXPECT_THAT(KernelHeader(task),
              HasSubstr("// input args[0], (real, imaginary) in the last dimension\n"));
}

TEST(KernelHeader, SizesThatVaryComeWithTheCall) {
  Task task = Convolution();
  task.dims = {{"x_0", 16}, {"out_0", 16}, {"kernel_size", 3}};
  const std::string header = KernelHeader(task);
  EXPECT_THAT(header, HasSubstr("x_dims[] = {-1, 3, 512};"));
  EXPECT_THAT(header, HasSubstr("conv1d_weight_dims[] = {64, 3, 3};"));
  EXPECT_THAT(header, HasSubstr("// kernel_size: dims.kernel_size\n"));
  EXPECT_THAT(header, HasSubstr("struct Dims {\n  std::int64_t x_0;\n  std::int64_t out_0;\n"));
  EXPECT_THAT(header, HasSubstr("pragma_kernel(const task::Dims& dims,"));
  EXPECT_THAT(header, HasSubstr("pragma_prepare(const task::Dims& dims,"));
}

TEST(KernelHeader, NeedsNoHeaderBesidesTheTwo) {
  const std::string text = KernelHeader(Convolution());
  EXPECT_THAT(text, HasSubstr("#include <cstddef>\n#include <cstdint>\n"));
  EXPECT_THAT(text, Not(HasSubstr("pragma_bf16")));
}

}  // namespace
}  // namespace pragma
