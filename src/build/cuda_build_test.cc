// Tests nvcc in real build jails, without a GPU: which candidates are built, which are rejected and
// why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "build/audit.h"
#include "build/builder.h"
#include "build/diagnostics.h"
#include "build/source_check.h"
#include "build/testing.h"
#include "build/toolchain.h"
#include "core/candidate.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kCudaHeader =
    "#pragma once\n#include <cstddef>\n#include <cstdint>\n"
    "namespace task { inline constexpr std::int64_t n = 1024; }\n"
    "extern \"C\" const std::size_t pragma_scratch_bytes;\n"
    "extern \"C\" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t "
    "stream);\n";

const std::string kKernel =
    "__device__ float Twice(float x) { return 2 * x; }\n"
    "__constant__ float table[4];\n"
    "__global__ void Double(const float* x, float* out) {\n"
    "  const int at = blockIdx.x * 256 + threadIdx.x;\n"
    "  if (at < task::n) out[at] = Twice(x[at]) + table[at % 4];\n}\n";

std::string Launch(const std::string& body) {
  return "extern \"C\" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) "
         "{\n" +
         body + "\n}\n";
}

const std::string kPlain = kKernel + Launch("  Double<<<4, 256, 0, stream>>>(x, out);");

class CudaBuild : public testing::Test {
 protected:
  void SetUp() override {
    if (FindProgram("nvcc", PathFolders()).empty()) GTEST_SKIP() << "nvcc is not on PATH";
  }
  BuildOutcome Build(const std::string& source, std::vector<std::string> flags = {"-O3"}) {
    Candidate candidate = CudaCandidate(source);
    candidate.flags = std::move(flags);
    auto outcome = builder_.Build(candidate, kCudaHeader);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(*outcome) : BuildOutcome(BuildFailure{});
  }
  TempDir cache_ = TempDir::Create().value();
  Builder builder_{TestJail(), cache_.path() / "cache"};
};

TEST_F(CudaBuild, APlainKernelIsBuiltForTheDeviceAndThenFoundInTheCache) {
  const BuildOutcome first = Build(kPlain);
  const BuiltKernel* kernel = Built(first);
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(kernel->compiler, HasSubstr("Cuda compilation tools, release"));
  EXPECT_EQ(kernel->scratch_bytes, 0U);
  const BuildOutcome second = Build(kPlain);
  ASSERT_NE(Built(second), nullptr);
  EXPECT_TRUE(Built(second)->from_cache);
  builder_.SetCapability("8.0");
  const BuildOutcome other = Build(kPlain);
  ASSERT_NE(Built(other), nullptr);
  EXPECT_FALSE(Built(other)->from_cache);
  EXPECT_NE(Built(other)->sha256, kernel->sha256);
}

TEST_F(CudaBuild, ScratchIsReadFromTheObject) {
  const BuildOutcome outcome = Build(
      "extern \"C\" constinit const std::size_t pragma_scratch_bytes = task::n * 4;\n" + kPlain);
  ASSERT_NE(Built(outcome), nullptr);
  EXPECT_EQ(Built(outcome)->scratch_bytes, 4096U);
}

TEST_F(CudaBuild, ErrorsOfTheHostsAndTheDevicesCompilerNameTheLine) {
  const BuildFailure host = Failed(Build(kKernel + Launch("  Double<<<4, 256>>>(y, out);")));
  EXPECT_EQ(host.status, Status::kCompileError);
  EXPECT_THAT(host.reason, HasSubstr("kernel.cu:8: identifier \"y\" is undefined"));
  const BuildFailure device =
      Failed(Build("__global__ void Large() { __shared__ float a[1 << 20]; a[threadIdx.x] = 1; "
                   "__syncthreads(); if (a[0] == 2) __trap(); }\n" +
                   Launch("  Large<<<1, 1, 0, stream>>>();")));
  EXPECT_EQ(device.status, Status::kCompileError);
  EXPECT_THAT(device.reason, HasSubstr("too much shared data"));
}

TEST_F(CudaBuild, WhatTheWorkerDoesNotHaveIsTurnedAway) {
  struct Case {
    std::string body;
    std::string advice;
  };
  for (const Case& bad : {Case{"void* p; cudaMalloc(&p, 4);", "pragma_scratch_bytes"},
                          Case{"cudaStreamSynchronize(stream);", "launch and return"},
                          Case{"cudaStream_t s; cudaStreamCreate(&s);", "stream that"}}) {
    const BuildFailure failed = Failed(Build(kKernel + Launch(bad.body)));
    EXPECT_EQ(failed.status, Status::kRejectedSource) << bad.body;
    EXPECT_THAT(failed.reason, HasSubstr(bad.advice)) << bad.body;
  }
}

TEST_F(CudaBuild, TheEntryMustBeThereInItsForm) {
  EXPECT_THAT(Failed(Build(kKernel)).reason, HasSubstr("does not define pragma_launch"));
  EXPECT_THAT(Failed(Build("void pragma_launch(int*) {}")).reason, HasSubstr("as a C++ function"));
}

TEST_F(CudaBuild, DeviceCodeThatLooksAtAClockIsTurnedAwayHoweverItIsSpelt) {
  for (const char* statement :
       {"out[0] = clock();", "out[0] = clock64();",
        "unsigned v; asm(\"mov.u32 %0, %%cl\" \"ock;\" : \"=r\"(v)); out[0] = v;",
        "unsigned long long v; asm volatile(\"mov.u64 %0, %%global\" PIECE \";\" : \"=l\"(v)); "
        "out[0] = v;",
        "asm volatile(\"{ .reg .u32 t; mov.u32 t, %clock; }\");"}) {
    const BuildFailure failed = Failed(
        Build("#define PIECE \"timer\"\n__global__ void Late(float* out) { " +
              std::string(statement) + " }\n" + Launch("  Late<<<1, 1, 0, stream>>>(out);")));
    EXPECT_EQ(failed.status, Status::kRejectedSource) << statement;
    EXPECT_THAT(failed.reason, HasSubstr("device code reads %")) << statement;
    EXPECT_EQ(failed.checks.back().name, "ptx");
  }
}

TEST_F(CudaBuild, WhereItCouldKeepAnythingIsNamedAlsoFromTheCache) {
  EXPECT_THAT(
      Built(Build("__device__ const float weights[4] = {1, 2, 3, 4};\n" + kKernel +
                  "__global__ void Weigh(float* out) { out[threadIdx.x] *= weights[threadIdx.x % "
                  "4]; }\n" +
                  Launch(
                      "  Double<<<4, 256, 0, stream>>>(x, out); Weigh<<<1, 4, 0, stream>>>(out);")))
          ->kept,
      testing::ElementsAre("the host's variable table (16 B)"));
  const std::string source =
      "extern \"C\" constinit const std::size_t pragma_scratch_bytes = 64;\n"
      "__device__ unsigned counter;\n"
      "__global__ void Count(float* out) { static int inside; out[0] = counter++ + inside++; }\n" +
      Launch(
          "  static int calls; static thread_local int more; int* heap = new int(++calls + "
          "++more);\n"
          "  Count<<<*heap, 1, 0, stream>>>(out); delete heap;");
  for (int round = 0; round < 2; ++round) {
    const BuildOutcome outcome = Build(source);
    ASSERT_NE(Built(outcome), nullptr);
    EXPECT_EQ(Built(outcome)->from_cache, round == 1);
    EXPECT_THAT(
        Built(outcome)->kept,
        testing::UnorderedElementsAre("the device's variable counter (4 B)", HasSubstr("inside"),
                                      "64 B of scratch memory", "the host's variable counter (4 B)",
                                      HasSubstr("calls"), HasSubstr("more"), "the host's heap"));
    EXPECT_THAT(Built(outcome)->device_variables,
                testing::UnorderedElementsAre("counter", HasSubstr("inside")));
  }
}

TEST_F(CudaBuild, BarriersOfCudasLibraryWaitWithoutAClock) {
  const std::string source =
      "#include <cuda/barrier>\n#include <cuda/pipeline>\n"
      "__global__ void Waits(const float* x, float* out) {\n"
      "  __shared__ float s[32]; __shared__ cuda::barrier<cuda::thread_scope_block> bar;\n"
      "  if (threadIdx.x == 0) init(&bar, blockDim.x);\n"
      "  __syncthreads(); s[threadIdx.x] = x[threadIdx.x]; bar.arrive_and_wait();\n"
      "  bar.wait(bar.arrive()); out[threadIdx.x] = s[31 - threadIdx.x];\n}\n" +
      Launch("  Waits<<<1, 32, 0, stream>>>(x, out);");
  for (const char* capability : {"9.0", "8.0"}) {
    builder_.SetCapability(capability);
    const BuildOutcome outcome = Build(source);
    ASSERT_NE(Built(outcome), nullptr);
    EXPECT_THAT(Built(outcome)->kept, testing::IsEmpty());
  }
}

TEST_F(CudaBuild, APlainKernelKeepsNothing) {
  const std::string plain =
      "__global__ void Double(const float* x, float* out) { __shared__ float s[32]; s[threadIdx.x] "
      "= "
      "x[threadIdx.x]; __syncthreads(); out[threadIdx.x] = 2 * s[31 - threadIdx.x]; }\n"
      "template <int N> __global__ void Times(float* out) { out[threadIdx.x] *= N; }\n" +
      Launch("  Double<<<1, 32, 0, stream>>>(x, out); Times<2><<<1, 32, 0, stream>>>(out);");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-O3"}, {"-O0"}, {"-O3", "-lineinfo"}}) {
    const BuildOutcome outcome = Build(plain, flags);
    ASSERT_NE(Built(outcome), nullptr);
    EXPECT_THAT(Built(outcome)->kept, testing::IsEmpty()) << flags.back();
  }
}

TEST(CudaCandidates, FlagsOutsideTheListAreRejected) {
  EXPECT_EQ(FlagComplaint(DefaultCudaFlags(), Language::kCuda), "");
  for (const std::string& form : AllowedFlagForms(Language::kCuda)) {
    if (!form.starts_with("-D")) {
      EXPECT_EQ(FlagComplaint({form}, Language::kCuda), "") << form;
    }
  }
  for (const char* flag : {"-rdc=true", "-cudart=shared", "-arch=sm_80", "-gencode=arch=compute_80",
                           "-Xcompiler=-fopenmp", "-Xptxas=@file", "-lcublas", "-I/usr", "-o/etc/x",
                           "--options-file=x", "-ccbin=/tmp/x", "-keep", "-march=native",
                           "-maxrregcount=", "-include=/etc/passwd", "-run", "--dryrun"}) {
    EXPECT_THAT(FlagComplaint({flag}, Language::kCuda), HasSubstr("is not allowed")) << flag;
  }
  EXPECT_THAT(FlagComplaint({"-arch=sm_80"}, Language::kCuda), HasSubstr("that it measures on"));
  EXPECT_THAT(FlagComplaint({"-use_fast_mat"}, Language::kCuda), HasSubstr("-use_fast_math?"));
  EXPECT_THAT(FlagComplaint({"-use_fast_math"}), HasSubstr("is not allowed"));
}

std::string Complaint(const std::string& source) {
  return CheckSource(source, 10000, Language::kCuda).complaint;
}

TEST(CudaCandidates, HeadersOfTypesAndIntrinsicsOnly) {
  EXPECT_EQ(Complaint("#include <cuda_fp16.h>\n#include <mma.h>\n#include <cmath>\n"
                      "#include <cooperative_groups/reduce.h>\n#include \"kernel.h\"\n"),
            "");
  for (const char* name : {"cublas_v2.h", "cudnn.h", "cub/cub.cuh", "thrust/sort.h", "cuda.h",
                           "nvrtc.h", "torch/extension.h", "/etc/passwd"}) {
    EXPECT_THAT(Complaint("#include <" + std::string(name) + ">\n"), HasSubstr("is not allowed"))
        << name;
  }
  EXPECT_THAT(CheckSource("#include <mma.h>\n", 100).complaint, HasSubstr("is not allowed"));
}

TEST(CudaCandidates, AssemblyMayHoldInstructionsOfTheDeviceOnly) {
  EXPECT_EQ(Complaint("__device__ void f() { asm volatile(\"mov.u32 %0, %laneid;\"); }"), "");
  for (const char* text : {"syscall", "sysenter", "int $0x80"}) {
    EXPECT_THAT(Complaint("void f() { asm volatile(\"" + std::string(text) + "\"); }"),
                HasSubstr("may not call the operating system"))
        << text;
  }
}

TEST(CudaCandidates, SymbolsBeyondTheRuntimeThatTheWorkerHasAreRefusedWithAdvice) {
  for (const char* fine : {"__cudaLaunchKernel", "cudaLaunchKernelExC", "cudaFuncSetAttribute",
                           "cudaMemsetAsync", "memcpy", "_Znwm", "exit"}) {
    EXPECT_EQ(CudaSymbolComplaint(fine), "") << fine;
  }
  EXPECT_THAT(CudaSymbolComplaint("cudaMallocAsync"), HasSubstr("pragma_scratch_bytes"));
  EXPECT_THAT(CudaSymbolComplaint("cudaGraphLaunch"), HasSubstr("stream"));
  EXPECT_THAT(CudaSymbolComplaint("cublasSgemm_v2"), HasSubstr("no library"));
  EXPECT_THAT(CudaSymbolComplaint("cuLaunchKernel"), HasSubstr("a kernel may launch"));
  EXPECT_THAT(CudaSymbolComplaint("pthread_create"), HasSubstr("threads"));
  EXPECT_THAT(SymbolComplaint("cudaMemsetAsync", false), Not(testing::IsEmpty()));
}

TEST(CudaCandidates, MessagesOfNvccAndPtxas) {
  const auto found = ParseDiagnostics(
      "kernel.cu(3): error: identifier \"y\" is undefined\n    out[0] = y;\n             ^\n\n"
      "kernel.cu(1): warning #177-D: variable \"z\" was declared but never referenced\n"
      "ptxas error   : Entry function 'k' uses too much shared data (0x400000 bytes)\n"
      "1 error detected in the compilation of \"kernel.cu\".\n",
      "int z;\n\n  out[0] = y;\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].file, "kernel.cu");
  EXPECT_EQ(found[0].line, 3);
  EXPECT_EQ(found[0].message, "identifier \"y\" is undefined");
  EXPECT_EQ(found[0].source_line, "out[0] = y;");
  EXPECT_EQ(found[1].severity, "warning");
  EXPECT_THAT(found[1].message, HasSubstr("never referenced"));
  EXPECT_EQ(found[2].severity, "error");
  EXPECT_THAT(found[2].message, HasSubstr("too much shared data"));
  EXPECT_TRUE(IsKernelSource("kernel.cu"));
  EXPECT_FALSE(IsKernelSource("other.cu"));
}

}  // namespace
}  // namespace pragma
