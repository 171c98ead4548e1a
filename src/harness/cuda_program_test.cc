// Tests pragma-cuda-worker in its jail with candidates that nvcc compiled. The CUDA driver is a
// fake one whose device is host memory (worker/cuda/fake_driver.c). This covers the whole path of a
// CUDA candidate except the GPU.
#include "harness/cuda_program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/shared_memory.h"
#include "base/subprocess.h"
#include "build/builder.h"
#include "build/toolchain.h"
#include "core/backend_testing.h"
#include "core/candidate.h"
#include "harness/peer.h"
#include "harness/worker_failure.h"
#include "sandbox/jail.h"
#include "task/torch_channel.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

using testing::HasSubstr;

constexpr std::size_t kCount = 8;
constexpr std::size_t kSets = 3;
constexpr std::size_t kPage = 4096;  // size of each tensor's place
constexpr Seconds kLimit{30};

constexpr const char* kHeader =
    "#pragma once\n#include <cstddef>\n#include <cstdint>\n"
    "extern \"C\" const std::size_t pragma_scratch_bytes;\n"
    "extern \"C\" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t "
    "stream);\n";
const std::string kKernels =
    "__global__ void Double(const float* x, float* out, int count) {\n"
    "  if (threadIdx.x < count) out[threadIdx.x] = 2 * x[threadIdx.x];\n}\n"
    "__global__ void Fault() {}\n";

std::string Source(const std::string& body) {
  return kKernels +
         "extern \"C\" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t "
         "stream) {\n" +
         body + "\n}\n";
}

const Jail& TestJail(SandboxMode mode) {
  static const auto full = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kFull);
  static const auto reduced = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kReduced);
  const auto& jail = mode == SandboxMode::kFull ? full : reduced;
  if (!jail) {
    ADD_FAILURE() << jail.error().message;
    std::abort();
  }
  return *jail;
}

// An area as the server hands it over: one line of text with the two descriptors.
class TestArea final {
 public:
  TestArea() {
    layout_.input_bytes = inputs_.size();
    layout_.output_bytes = outputs_.size();
    for (std::size_t set = 0; set < kSets; ++set) {
      layout_.arguments.push_back({set * kPage});
      layout_.outputs.push_back({(kSets - 1 - set) * kPage});
      for (std::size_t i = 0; i < kCount; ++i) {
        Values(inputs_, set)[i] = static_cast<float>(10 * set + i);
      }
    }
  }
  Referee::SharedArea Share() {
    UniqueFd end;
    auto channel = TorchChannel::Create(end).value();
    const std::array<int, 2> fds{inputs_.fd(), outputs_.fd()};
    EXPECT_TRUE(channel.Send(R"({"plan": "for Python"})", fds, After(kLimit)));
    return {.end = std::move(end), .layout = layout_};
  }
  float* out(std::size_t set) { return Values(outputs_, kSets - 1 - set); }
  float* x(std::size_t set) { return Values(inputs_, set); }

 private:
  static float* Values(SharedMemory& memory, std::size_t page) {
    return reinterpret_cast<float*>(memory.bytes().data() + page * kPage);
  }
  SharedMemory inputs_ = SharedMemory::Create("test-inputs", kSets* kPage).value();
  SharedMemory outputs_ = SharedMemory::Create("test-outputs", kSets* kPage).value();
  AreaLayout layout_;
};

class CudaWorker : public testing::Test {
 protected:
  explicit CudaWorker(SandboxMode mode = SandboxMode::kFull) : jail_(TestJail(mode)) {}
  void SetUp() override {
    if (FindProgram("nvcc", PathFolders()).empty()) GTEST_SKIP() << "nvcc is not on PATH";
  }

  // Builds the candidate and starts its process. Nothing is loaded yet.
  void Start(const std::string& source) {
    const Builder builder(jail_, cache_.path());
    const auto built = builder.Build(CudaCandidate(source), kHeader);
    ASSERT_TRUE(built) << built.error().message;
    const auto* kernel = std::get_if<BuiltKernel>(&*built);
    ASSERT_NE(kernel, nullptr) << std::get<BuildFailure>(*built).reason;
    Start(*kernel);
  }
  void Start(const BuiltKernel& kernel) {
    program_.SetKernel(kernel);
    auto started = program_.Start(area_.Share());
    ASSERT_TRUE(started) << started.error().message;
    process_.emplace(std::move(*started));
  }

  Doorbell::Reply Ring(pragma_command command, const std::vector<std::uint32_t>& sets = {}) {
    return process_->control.Ring(command, sets, process_->jailed.pidfd(), kLimit);
  }
  Doorbell::Reply Load() {
    EXPECT_TRUE(program_.HandOver(process_->control.page(), process_->object));
    return Ring(PRAGMA_LOAD);
  }
  [[nodiscard]] std::string said() const { return process_->control.message(); }

  const Jail& jail_;
  TempDir cache_ = TempDir::Create().value();
  TestArea area_;
  const Device device_{.name = "fake",
                       .library = PRAGMA_BINARY_DIR "/fake_cuda/libcuda.so.1",
                       .backend = ShippedBackend("nvidia")};
  CudaProgram program_{jail_, device_, WorkerOptions{}};
  std::optional<CudaProcess> process_;
};

class CudaWorkerInReducedJail : public CudaWorker {
 protected:
  CudaWorkerInReducedJail() : CudaWorker(SandboxMode::kReduced) {}
};

TEST_F(CudaWorkerInReducedJail, AKernelIsLaunched) {
  Start(Source("  Double<<<1, 8, 0, stream>>>(x, out, 8);"));
  ASSERT_EQ(Ring(PRAGMA_START).result, PRAGMA_OK) << said();
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_RUN, {2, 0}).result, PRAGMA_OK) << said();
  EXPECT_EQ(area_.out(0)[7], 14);
}

TEST_F(CudaWorker, AKernelIsLaunchedOnTheListedSetsOnly) {
  Start(Source("  Double<<<1, 8, 0, stream>>>(x, out, 8);"));
  ASSERT_EQ(Ring(PRAGMA_START).result, PRAGMA_OK) << said();
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  area_.x(2)[3] = 77;  // the kernel sees the values that the area holds when it is called
  EXPECT_EQ(Ring(PRAGMA_WAKE).result, PRAGMA_OK);
  EXPECT_EQ(Ring(PRAGMA_EMPTY, {0, 1, 2}).result, PRAGMA_OK);
  EXPECT_EQ(area_.out(2)[3], 0);
  ASSERT_EQ(Ring(PRAGMA_RUN, {2, 0}).result, PRAGMA_OK) << said();
  EXPECT_EQ(area_.out(2)[3], 154);
  EXPECT_EQ(area_.out(0)[7], 14);
  EXPECT_EQ(area_.out(1)[7], 0);
}

TEST_F(CudaWorker, LoadStartsTheDeviceWhereNobodyHas) {
  Start(Source("  Double<<<1, 8, 0, stream>>>(x, out, 8);"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_RUN, {1}).result, PRAGMA_OK) << said();
  EXPECT_EQ(area_.out(1)[0], 20);
}

TEST_F(CudaWorker, ScratchIsItsOwnAndThereAsTheSourceAsks) {
  Start("extern \"C\" constinit const std::size_t pragma_scratch_bytes = 64;\n" +
        Source("  cudaMemcpyAsync(scratch, x, 32, cudaMemcpyDeviceToDevice, stream);\n"
               "  Double<<<1, 8, 0, stream>>>(static_cast<float*>(scratch), out, 8);"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_RUN, {1}).result, PRAGMA_OK) << said();
  EXPECT_EQ(area_.out(1)[5], 30);
}

// A kernel that copies its scratch memory, which it never writes, to its output.
const std::string kShowsScratch =
    "extern \"C\" constinit const std::size_t pragma_scratch_bytes = 64;\n" +
    Source("  cudaMemcpyAsync(out, scratch, 32, cudaMemcpyDeviceToDevice, stream);");

TEST_F(CudaWorker, ScrambledCallsFindOtherScratchMemoryEachTime) {
  Start(kShowsScratch);
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_RUN, {0, 1}).result, PRAGMA_OK) << said();
  const auto shown = [&](std::size_t set) {
    return std::vector<std::uint32_t>(reinterpret_cast<std::uint32_t*>(area_.out(set)),
                                      reinterpret_cast<std::uint32_t*>(area_.out(set)) + kCount);
  };
  EXPECT_EQ(shown(0), std::vector<std::uint32_t>(kCount, 0x5a5a5a5a));
  EXPECT_EQ(shown(1), shown(0));
  process_->control.ScrambleNext(7);
  ASSERT_EQ(Ring(PRAGMA_RUN, {0, 1}).result, PRAGMA_OK) << said();
  const auto first = shown(0);
  EXPECT_NE(first, std::vector<std::uint32_t>(kCount, 0x5a5a5a5a));
  EXPECT_NE(shown(1), first);
  ASSERT_EQ(Ring(PRAGMA_RUN, {0}).result, PRAGMA_OK) << said();
  EXPECT_EQ(shown(0), shown(1)) << "for one command only";
  process_->control.ScrambleNext(7);
  ASSERT_EQ(Ring(PRAGMA_RUN, {2}).result, PRAGMA_OK) << said();
  EXPECT_EQ(shown(2), first) << "by its seed alone";
}

TEST_F(CudaWorker, KeptMemoryIsReadAndWritten) {
  constexpr std::size_t kVariable = 64;  // size of the fake driver's variable
  Start(
      "__device__ float memory[16];\n__global__ void Fill(float* out) { memory[0] += out[0]; }\n"
      "extern \"C\" constinit const std::size_t pragma_scratch_bytes = 64;\n" +
      Source("  cudaMemcpyToSymbolAsync(memory, x, 32, 0, cudaMemcpyDeviceToDevice, stream);\n"
             "  cudaMemcpyAsync(out, scratch, 32, cudaMemcpyDeviceToDevice, stream);\n"
             "  if (false) Fill<<<1, 1, 0, stream>>>(out);"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_RUN, {1}).result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_KEPT_READ).result, PRAGMA_OK) << said();
  auto* head = reinterpret_cast<pragma_kept*>(process_->kept.data());
  auto* values = reinterpret_cast<float*>(head + 1);
  EXPECT_GE(head->bytes, kVariable + 64);
  EXPECT_EQ(values[5], 15);
  EXPECT_EQ(std::to_integer<int>(process_->kept.bytes()[sizeof(pragma_kept) + kVariable]), 0x5a);
  for (std::size_t i = 0; i < kCount; ++i) values[kVariable / sizeof(float) + i] = 3;
  ASSERT_EQ(Ring(PRAGMA_KEPT_WRITE).result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_RUN, {2}).result, PRAGMA_OK) << said();
  EXPECT_EQ(area_.out(2)[5], 3);
}

TEST_F(CudaWorker, AHeadOfKeptMemoryThatIsWrongHarmsNobody) {
  Start(kShowsScratch);
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  auto* head = reinterpret_cast<pragma_kept*>(process_->kept.data());
  head->bytes = ~std::uint64_t{0};
  EXPECT_EQ(Ring(PRAGMA_KEPT_WRITE).result, PRAGMA_OK) << said();
  head->bytes = 0;
  EXPECT_EQ(Ring(PRAGMA_KEPT_WRITE).result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_KEPT_READ).result, PRAGMA_OK) << said();
  EXPECT_LE(head->bytes, PRAGMA_KEPT_BYTES);
}

TEST_F(CudaWorker, CodeThatItBringsWithItIsNotLoaded) {
  Start(
      "extern \"C\" void** __cudaRegisterFatBinary(void*);\n"
      "static struct { int magic, version; const void* data; void* more; } mine{0x466243b1, 1, "
      "\".version 7.0\", nullptr};\n" +
      Source("  __cudaRegisterFatBinary(&mine);"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  EXPECT_EQ(Ring(PRAGMA_RUN, {0}).result, PRAGMA_RAISED);
  EXPECT_THAT(said(), HasSubstr("loading device code"));
}

TEST_F(CudaWorker, WhatALaunchReturnsIsLookedAt) {
  Start(Source("  Double<<<1, 2048, 0, stream>>>(x, out, 8);"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  EXPECT_EQ(Ring(PRAGMA_RUN, {0}).result, PRAGMA_RAISED);
  EXPECT_EQ(said(), "pragma_launch: a launch fails: invalid argument");
}

TEST_F(CudaWorker, AFaultOfTheDeviceIsFoundWhenItIsWaitedFor) {
  Start(Source("  Fault<<<1, 1, 0, stream>>>();"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  EXPECT_EQ(Ring(PRAGMA_RUN, {0}).result, PRAGMA_RAISED);
  EXPECT_THAT(said(), HasSubstr("illegal memory access"));
}

// The fake driver refuses every attribute, so a launch with one succeeds only if it was left out.
const std::string kOverlapping =
    "  cudaLaunchAttribute overlaps{};\n"
    "  overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
    "  overlaps.val.programmaticStreamSerializationAllowed = 1;\n"
    "  cudaLaunchConfig_t config{};\n"
    "  config.gridDim = 1;\n  config.blockDim = 8;\n  config.stream = stream;\n"
    "  config.attrs = &overlaps;\n  config.numAttrs = 1;\n"
    "  cudaLaunchKernelEx(&config, Double, x, out, 8);\n";

TEST_F(CudaWorker, TheFirstLaunchOfACallMayNotOverlapTheCallBefore) {
  Start(Source(kOverlapping));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  ASSERT_EQ(Ring(PRAGMA_RUN, {2, 0}).result, PRAGMA_OK) << said();
  EXPECT_EQ(area_.out(0)[7], 14);
}

TEST_F(CudaWorker, ALaterLaunchMayOverlapTheFirst) {
  Start(Source("  Double<<<1, 8, 0, stream>>>(x, out, 8);\n" + kOverlapping));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  EXPECT_EQ(Ring(PRAGMA_RUN, {0}).result, PRAGMA_RAISED);
  EXPECT_THAT(said(), HasSubstr("a launch"));
}

TEST_F(CudaWorker, CopiesWithTheHostAreRefused) {
  Start(
      Source("  float host[8] = {};\n"
             "  cudaMemcpyAsync(out, host, 32, cudaMemcpyHostToDevice, stream);"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  EXPECT_EQ(Ring(PRAGMA_RUN, {0}).result, PRAGMA_RAISED);
  EXPECT_THAT(said(), HasSubstr("cudaMemcpyAsync of host memory fails"));
}

TEST_F(CudaWorker, ArgumentsCannotBeWritten) {
  Start(Source("  Double<<<1, 8, 0, stream>>>(x, const_cast<float*>(x), 8);"));
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  EXPECT_EQ(Ring(PRAGMA_RUN, {0}).answer, Answer::kDied);  // on a GPU this would be a device fault
  EXPECT_EQ(area_.x(0)[1], 1);
}

// Loads a candidate that the audit would reject, as if it had passed the audit.
TEST_F(CudaWorker, NoThreadCanBeStarted) {
  const std::filesystem::path source = cache_.path() / "thread.cpp";
  ASSERT_TRUE(
      WriteFileAtomic(source,
                      "#include <thread>\n"
                      "extern \"C\" void pragma_launch() { std::thread([] {}).detach(); }\n"));
  const std::string object = (cache_.path() / "thread.so").string();
  const auto compiled = RunProcess(
      {.argv = {"g++", "-shared", "-fPIC", source.string(), "-o", object}, .inherit_env = true},
      {});
  ASSERT_TRUE(compiled && compiled->status.ok());
  BuiltKernel kernel;
  kernel.shared_object = object;
  Start(kernel);
  ASSERT_EQ(Load().result, PRAGMA_OK) << said();
  EXPECT_EQ(Ring(PRAGMA_RUN, {0}).answer, Answer::kDied);
  const auto outcome = process_->jailed.WaitFor(kLimit);
  ASSERT_TRUE(outcome && *outcome);
  const WorkerFailure failure = FailureFromDeath(**outcome, "", WorkerKind::kCuda);
  EXPECT_EQ(failure.status, Status::kSandboxViolation);
  EXPECT_THAT(failure.reason, HasSubstr("may only launch kernels"));
}

TEST_F(CudaWorker, WithoutADriverItSaysSo) {
  const Device nowhere{.name = "none", .library = ""};
  program_ = CudaProgram(jail_, nowhere, WorkerOptions{});
  Start(BuiltKernel{});
  EXPECT_EQ(Ring(PRAGMA_START).result, PRAGMA_LOAD_FAILED);
  EXPECT_NE(said(), "");  // on a machine with a driver it says what else is missing
}

}  // namespace
}  // namespace pragma
