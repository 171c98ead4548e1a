// Measures how near the expert's products and convolutions come to the machine's peak, for
// bench/expert_kernels.py:
//   pragma-expert-kernels COMPILER [WORD [FOLDER]]
// It generates, builds and times a list of shapes (those whose name contains WORD). Each is timed
// under the machine's timing lock. It prints one JSON object. Sources and libraries stay in FOLDER.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "core/json_writer.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/conv_kernel.h"
#include "expert/cpp/matmul_kernel.h"
#include "expert/expert.h"
#include "machine/machine.h"

namespace pragma::expert {
namespace {

struct Shape {
  std::string name;
  KernelText kernel;
  std::int64_t first = 0;  // elements of each tensor, also below
  std::int64_t second = 0;
  std::int64_t output = 0;
  double flops = 0;
};

enum class Layout : std::uint8_t { kPlain, kTransposedA, kTransposedB };

Shape Product(const KernelTarget& target, const std::string& name, std::int64_t batch,
              std::int64_t rows, std::int64_t columns, std::int64_t depth,
              Layout layout = Layout::kPlain, MatmulStructure structure = MatmulStructure::kNone) {
  MatmulSpec spec;
  spec.name = "subject";
  spec.batch = batch;
  spec.rows = rows;
  spec.columns = columns;
  spec.depth = depth;
  spec.structure = structure;
  spec.a = {rows * depth, depth, 1};
  spec.b = {depth * columns, columns, 1};
  spec.c = {rows * columns, columns, 1};
  if (layout == Layout::kTransposedA) spec.a = {rows * depth, 1, rows};
  if (layout == Layout::kTransposedB) spec.b = {depth * columns, 1, depth};
  const double all = 2 * static_cast<double>(batch * rows) * static_cast<double>(columns * depth);
  return {name,
          GenerateMatmul(spec, target),
          batch * rows * depth,
          batch * depth * columns,
          batch * rows * columns,
          structure == MatmulStructure::kNone ? all : all / 2};
}

Shape Convolution(const KernelTarget& target, const std::string& name, ConvSpec spec) {
  spec.name = "subject";
  Shape shape{name, GenerateConv(spec, target), spec.images * spec.in_channels,
              spec.in_channels * spec.out_channels / spec.groups, spec.images * spec.out_channels};
  double reads = 1;  // kernel positions times inputs (if transposed) or outputs
  for (const ConvAxis& axis : spec.axes) {
    const std::int64_t output = ConvOutputSize(axis, spec.transposed);
    shape.first *= axis.size;
    shape.second *= axis.kernel;
    shape.output *= output;
    reads *= static_cast<double>((spec.transposed ? axis.size : output) * axis.kernel);
  }
  shape.flops = 2 * reads * static_cast<double>(spec.images * spec.in_channels) *
                static_cast<double>(spec.out_channels / spec.groups);
  return shape;
}

ConvSpec Conv(std::int64_t images, std::int64_t in, std::int64_t out, std::vector<ConvAxis> axes,
              std::int64_t groups = 1) {
  ConvSpec spec;
  spec.images = images;
  spec.in_channels = in;
  spec.out_channels = out;
  spec.groups = groups;
  spec.axes = std::move(axes);
  return spec;
}

ConvSpec Transposed(ConvSpec spec) {
  spec.transposed = true;
  return spec;
}

std::vector<Shape> Shapes(const KernelTarget& target) {
  using enum Layout;
  const auto product = [&](auto... rest) { return Product(target, rest...); };
  const auto conv = [&](const char* name, ConvSpec spec) {
    return Convolution(target, name, std::move(spec));
  };
  return {
      product("matmul 2048^3", 1, 2048, 2048, 2048),
      product("matmul 1024 x 4096 x 2048, a transposed", 1, 1024, 2048, 4096, kTransposedA),
      product("matmul 1024 x 4096 x 2048, b transposed", 1, 1024, 2048, 4096, kTransposedB),
      product("matmul 1031 x 1021 x 1033", 1, 1031, 1033, 1021),
      product("matmul 256 x 65536 x 256", 1, 256, 256, 65536),
      product("matmul 8192 x 32 x 8192", 1, 8192, 8192, 32),
      product("matmul 128 times 128 x 256 x 512", 128, 128, 512, 256),
      product("matmul upper triangle of 2048^3", 1, 2048, 2048, 2048, kPlain,
              MatmulStructure::kUpperOutput),
      product("linear 128 x 1024 to 512", 1, 128, 512, 1024, kTransposedB),
      product("linear 128 x 512 to 1024", 1, 128, 1024, 512, kTransposedB),
      product("linear 1 x 4096 to 4096", 1, 1, 4096, 4096, kTransposedB),
      product("matrix-vector 256 x 131072", 1, 256, 1, 131072),
      conv("conv2d 3x3, 16 x 32 x 64 x 64 to 64", Conv(16, 32, 64, {{64, 3, 1, 1}, {64, 3, 1, 1}})),
      conv("conv2d 3x3, 8 x 64 x 56 x 56 to 64", Conv(8, 64, 64, {{56, 3, 1, 1}, {56, 3, 1, 1}})),
      conv("conv2d 3x3, 8 x 128 x 28 x 28 to 128",
           Conv(8, 128, 128, {{28, 3, 1, 1}, {28, 3, 1, 1}})),
      conv("conv2d 3x3, 8 x 256 x 14 x 14 to 256",
           Conv(8, 256, 256, {{14, 3, 1, 1}, {14, 3, 1, 1}})),
      conv("conv2d 3x3 stride 2, 8 x 64 x 56 x 56 to 128",
           Conv(8, 64, 128, {{56, 3, 2, 1}, {56, 3, 2, 1}})),
      conv("conv2d 3x3, 16 x 3 x 256 x 256 to 64", Conv(16, 3, 64, {{256, 3}, {256, 3}})),
      conv("conv2d 3x3, 128 x 3 x 32 x 32 to 16", Conv(128, 3, 16, {{32, 3}, {32, 3}})),
      conv("conv2d 7x7 stride 2, 4 x 3 x 224 x 224 to 64",
           Conv(4, 3, 64, {{224, 7, 2, 3}, {224, 7, 2, 3}})),
      conv("conv2d 1x1, 16 x 64 x 56 x 56 to 256", Conv(16, 64, 256, {{56, 1}, {56, 1}})),
      conv("conv2d depthwise 3x3, 16 x 64 x 112 x 112",
           Conv(16, 64, 64, {{112, 3, 1, 1}, {112, 3, 1, 1}}, 64)),
      conv("conv1d 3, 16 x 64 x 4096 to 128", Conv(16, 64, 128, {{4096, 3}})),
      conv("conv3d 3x3x3, 4 x 3 x 64 x 64 x 64 to 64", Conv(4, 3, 64, {{64, 3}, {64, 3}, {64, 3}})),
      conv("conv3d 3x3x3, short rows, 1 x 3 x 256 x 256 x 10 to 64",
           Conv(1, 3, 64, {{256, 3}, {256, 3}, {10, 3}})),
      conv("transposed 3x3, 4 x 32 x 128 x 128 to 64",
           Transposed(Conv(4, 32, 64, {{128, 3}, {128, 3}}))),
      conv("transposed 4x4 stride 2, 16 x 32 x 32 x 32 to 64",
           Transposed(Conv(16, 32, 64, {{32, 4, 2, 1}, {32, 4, 2, 1}}))),
      conv("transposed 3x5x7 stride 2, 4 groups, 4 x 32 x 16 x 32 x 64 to 64",
           Transposed(Conv(4, 32, 64,
                           {{16, 3, 2, 1, 1, 1}, {32, 5, 2, 2, 1, 1}, {64, 7, 2, 3, 1, 1}}, 4))),
  };
}

using Kernel = void (*)(const float*, const float*, float*, char*);
using Memory = std::unique_ptr<float, void (*)(void*)>;

Memory Numbers(std::int64_t count) {
  const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(float) + 4159) / 64 * 64;
  Memory memory(static_cast<float*>(std::aligned_alloc(64, bytes)), std::free);
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i)
    memory.get()[i] = static_cast<float>(i * 2654435761U % 1024) / 1024.0F - 0.5F;
  return memory;
}

Result<void*> Build(const std::string& compiler, const Shape& shape,
                    const std::filesystem::path& folder) {
  using P = VectorPiece;
  const std::string source =
      "#include <omp.h>\n#include <algorithm>\n#include <cstddef>\n#include <cstdint>\n"
      "#define PRAGMA_TUNE(name, otherwise, ...) "
      "[[maybe_unused]] static constexpr int name = otherwise\n" +
      VectorPreamble({P::kCore, P::kParts, P::kStream}) + std::string(PackingText()) +
      shape.kernel.code +
      "extern \"C\" void kernel(const float* a, const float* b, float* c, char* scratch) {\n"
      "  subject::Run(a, b, c, scratch);\n}\n"
      "extern \"C\" const std::size_t scratch_bytes;\n"
      "const std::size_t scratch_bytes = subject::kScratchBytes;\n";
  std::string stem = shape.name;
  std::ranges::replace_if(stem, [](char c) { return std::isalnum(c) == 0; }, '_');
  stem = (folder / stem).string();
  TRY(WriteFileAtomic(stem + ".cpp", source));
  const RunResult run =
      TRY(RunProcess({.argv = {compiler, "-std=c++20", "-O3", "-march=native", "-fopenmp", "-fPIC",
                               "-shared", stem + ".cpp", "-o", stem + ".so"},
                      .inherit_env = true},
                     {.wall = Seconds{300}}));
  if (!run.status.ok())
    return Fail(ErrorKind::kInternal, fmt::format("{} does not build: {}", shape.name, run.err));
  void* library = ::dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(ErrorKind::kInternal, ::dlerror());
  return library;
}

// Returns the time of the fastest call, because a disturbance can only lengthen a call.
Result<double> BestSeconds(const Shape& shape, void* library) {
  auto kernel = reinterpret_cast<Kernel>(::dlsym(library, "kernel"));
  const auto* bytes = static_cast<const std::size_t*>(::dlsym(library, "scratch_bytes"));
  const Memory a = Numbers(shape.first);
  const Memory b = Numbers(shape.second);
  const Memory c = Numbers(shape.output);
  const Memory scratch = Numbers(static_cast<std::int64_t>(*bytes / sizeof(float)));
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const Clock::time_point start = Clock::now();
  for (int call = 0; call < 4 || (call < 200 && Clock::now() - start < std::chrono::seconds(1));
       ++call) {
    const Clock::time_point begin = Clock::now();
    kernel(a.get(), b.get(), c.get(), reinterpret_cast<char*>(scratch.get()));
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

Result<std::string> Measure(const std::string& compiler, const std::string& word,
                            const std::string& program_dir, const std::filesystem::path& keep) {
  Machine machine = TRY(DescribeMachine());
  {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
    TRY(MeasureMachine(machine, program_dir));
  }
  const TempDir temporary = TRY(TempDir::Create());
  const std::filesystem::path& folder = keep.empty() ? temporary.path() : keep;
  const KernelTarget target = TargetOf(machine);
  JsonWriter json;
  json.BeginObject().Key("peak_gflops").Value(machine.peak_gflops);
  json.Key("kernels").BeginArray();
  for (const Shape& shape : Shapes(target)) {
    if (shape.name.find(word) == std::string::npos) continue;
    void* library = TRY(Build(compiler, shape, folder));
    const double seconds = TRY(BestSeconds(shape, library));
    const auto bytes = static_cast<double>(4 * (shape.first + shape.second + shape.output));
    json.BeginObject().Key("name").Value(shape.name).Key("ms").Value(seconds * 1e3);
    json.Key("gflops").Value(shape.flops / seconds * 1e-9);
    json.Key("peak").Value(shape.flops / seconds * 1e-9 / machine.peak_gflops);
    json.Key("gbs").Value(bytes / seconds * 1e-9).EndObject();
    fmt::print(stderr, "{}: {:.2f} ms, {:.0f} % of the peak, {:.1f} GB/s\n", shape.name,
               seconds * 1e3, shape.flops / seconds * 1e-7 / machine.peak_gflops,
               bytes / seconds * 1e-9);
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace
}  // namespace pragma::expert

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: pragma-expert-kernels COMPILER [WORD [FOLDER]]\n", stderr);
    return 2;
  }
  const auto text = pragma::expert::Measure(argv[1], argc > 2 ? argv[2] : "", PRAGMA_PROGRAM_DIR,
                                            argc > 3 ? argv[3] : "");
  if (!text) {
    fmt::print(stderr, "pragma-expert-kernels: {}\n", text.error().message);
    return 3;
  }
  std::puts(text->c_str());
  return 0;
}
