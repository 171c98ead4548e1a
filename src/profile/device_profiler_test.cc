// Tests a CUDA candidate's profile: nvcc's output runs in the jail with a driver whose device is
// host memory (worker/cuda/fake_driver.c). This covers the whole path except the GPU and Nsight
// Compute.
#include "profile/device_profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/file.h"
#include "base/subprocess.h"
#include "build/builder.h"
#include "build/toolchain.h"
#include "core/backend_testing.h"
#include "core/candidate.h"
#include "knowledge/metrics_testing.h"
#include "machine/machine.h"
#include "profile/rules.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

using testing::HasSubstr;

constexpr const char* kTask = R"(
import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, x): return x * 2
def get_inputs(): return [torch.rand(8)]
def get_init_inputs(): return []
)";
constexpr const char* kKernels =
    "__global__ void Double(const float* x, float* out, int count) {\n"
    "  if (threadIdx.x < count) out[threadIdx.x] = 2 * x[threadIdx.x];\n}\n"
    "__global__ void Fault() {}\n"
    "extern \"C\" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {\n";

class DeviceProfile : public testing::Test {
 protected:
  void SetUp() override {
    if (FindProgram("nvcc", PathFolders()).empty()) GTEST_SKIP() << "nvcc is not on PATH";
    TorchServerOptions options;
    options.python = PRAGMA_SOURCE_DIR "/.venv/bin/python";
    options.package_root = PRAGMA_SOURCE_DIR "/python";
    options.cache_dir = folder_.path() / "cache";
    if (!std::filesystem::exists(options.python)) GTEST_SKIP() << "no Torch: run make test";
    auto jail = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kFull);
    ASSERT_TRUE(jail) << jail.error().message;
    jail_.emplace(std::move(*jail));
    const std::filesystem::path task = folder_.path() / "double.py";
    ASSERT_TRUE(WriteFileAtomic(task, kTask));
    auto server = TorchServer::Start(*jail_, options, task);
    ASSERT_TRUE(server) << server.error().message;
    server_.emplace(std::move(*server));
    machine_.device = Device{.library = PRAGMA_BINARY_DIR "/fake_cuda/libcuda.so.1",
                             .backend = ShippedBackend("nvidia"),
                             .l2_bytes = 1 << 20,
                             .multiprocessors = 4,
                             .clock_ghz = 1,
                             .memory_gbs = 100};
  }

  Profile Observe(const std::string& body) {
    const Candidate candidate = CudaCandidate(kKernels + body + "}\n");
    const Builder builder(*jail_, folder_.path() / "build");
    const auto built = builder.Build(candidate, CudaKernelHeader(server_->task()));
    const auto* kernel = built ? std::get_if<BuiltKernel>(&*built) : nullptr;
    if (kernel == nullptr) {
      ADD_FAILURE() << (built ? std::get<BuildFailure>(*built).reason : built.error().message);
      return {};
    }
    const auto rules =
        LoadRules(PRAGMA_SOURCE_DIR "/knowledge/diagnosis/gpu.toml", ShippedMetrics());
    EXPECT_TRUE(rules) << rules.error().message;
    const auto profile = ProfileOnDevice({.jail = *jail_,
                                          .machine = machine_,
                                          .server = *server_,
                                          .candidate = candidate,
                                          .kernel = kernel,
                                          .adapters = PRAGMA_SOURCE_DIR "/knowledge/adapters",
                                          .time_ms = 10},
                                         *rules);
    EXPECT_TRUE(profile) << profile.error().message;
    return profile.value_or(Profile{});
  }

  static ProviderNote NoteOf(const Profile& profile, const std::string& name) {
    const auto found = std::ranges::find(profile.providers, name, &ProviderNote::name);
    return found == profile.providers.end() ? ProviderNote{} : *found;
  }
  static double Value(const Profile& profile, const std::string& tag) {
    const Metric* metric = profile.Find(tag);
    return metric == nullptr ? -1 : metric->value;
  }

  TempDir folder_ = TempDir::Create().value();
  std::optional<Jail> jail_;
  std::optional<TorchServer> server_;
  Machine machine_;
};

// The fake driver's events are a millisecond apart, and its attributes are ten times their numbers.
TEST_F(DeviceProfile, LaunchesAreTimedAndTheirFactsAsked) {
  const Profile profile = Observe(
      "  Double<<<1, 8, 0, stream>>>(x, out, 8);\n"
      "  Double<<<dim3(2, 3), 32, 64, stream>>>(x, out, 8);\n");
  EXPECT_EQ(NoteOf(profile, "launches").verdict, "ran") << NoteOf(profile, "launches").detail;
  EXPECT_EQ(Value(profile, "gpu_kernels"), 2);
  EXPECT_EQ(Value(profile, "gpu_kernel_time"), 2000);
  EXPECT_EQ(Value(profile, "gpu_launch_gap"), 8000);
  EXPECT_EQ(Value(profile, "gpu_registers_per_thread"), 40);
  EXPECT_EQ(Value(profile, "gpu_shared_memory_per_block"), 10);
  ASSERT_EQ(profile.hot.size(), 1U);
  EXPECT_THAT(profile.hot[0].text, HasSubstr("Double(float const*, float*, int)"));
  EXPECT_EQ(profile.hot[0].remark, "2 launches");
  EXPECT_EQ(profile.hot[0].file, "kernel.cu");
}

TEST_F(DeviceProfile, RoofsComeFromTheDevicesPeaks) {
  const Profile profile = Observe("  Double<<<1, 8, 0, stream>>>(x, out, 8);\n");
  EXPECT_DOUBLE_EQ(Value(profile, "time_ms"), 10);
  EXPECT_DOUBLE_EQ(Value(profile, "bandwidth_share"), 64 / 90.0 * 1e-6 / 10);
  EXPECT_EQ(Value(profile, "compulsory_bytes"), 64);
}

// On a machine without Nsight Compute the profile says so, and its other parts are complete.
TEST_F(DeviceProfile, ACandidateThatFailsAloneIsANoteAndNoError) {
  const Profile profile = Observe("  Fault<<<1, 1, 0, stream>>>();\n");
  EXPECT_EQ(NoteOf(profile, "launches").verdict, "failed");
  EXPECT_THAT(NoteOf(profile, "launches").detail, HasSubstr("illegal memory access"));
  EXPECT_NE(NoteOf(profile, "ncu").verdict, "ran");
  EXPECT_EQ(NoteOf(profile, "roofline").verdict, "ran");
}

}  // namespace
}  // namespace pragma
