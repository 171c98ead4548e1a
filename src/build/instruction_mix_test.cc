#include "build/instruction_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "build/assembly.h"
#include "build/assembly_testing.h"
#include "build/block_counters.h"
#include "build/library_calls.h"
#include "build/memory_access.h"
#include "build/work_metrics.h"

namespace pragma {
namespace {

Instruction One(const std::string& text) {
  const Assembly assembly = ParseAssembly("f:\n\t" + text + "\n");
  EXPECT_EQ(assembly.instructions.size(), 1U) << text;
  return assembly.instructions.empty() ? Instruction{} : assembly.instructions[0];
}
Mix MixOne(const std::string& text) { return MixOf(One(text), false); }

struct Width {
  const char* text;
  AccessKind kind;
  int bytes;
};

TEST(MemoryAccess, KindsAndWidths) {
  using enum AccessKind;
  const Width widths[] = {{"movl (%rax), %ecx", kLoad, 4},
                          {"movq %rcx, 8(%rsp)", kStore, 8},
                          {"movzbl (%rdi,%rax), %ecx", kLoad, 1},
                          {"movslq (%rdi), %rcx", kLoad, 4},
                          {"movswl (%rdi), %ecx", kLoad, 2},
                          {"addl %eax, (%rdi)", kLoadAndStore, 4},
                          {"shll %cl, (%rdi)", kLoadAndStore, 4},
                          {"incq (%rdi)", kLoadAndStore, 8},
                          {"cmpb $3, (%rdi)", kLoad, 1},
                          {"testl %eax, (%rdi)", kLoad, 4},
                          {"xchgl (%rdi), %eax", kLoadAndStore, 4},
                          {"cmpxchgq %rcx, (%rdi)", kLoadAndStore, 8},
                          {"imull $5, (%rdi), %eax", kLoad, 4},
                          {"cmovle (%rdi), %eax", kLoad, 4},
                          {"setne (%rdi)", kStore, 1},
                          {"mulxq (%rdi), %rax, %rcx", kLoad, 8},
                          {"idivl (%rdi)", kLoad, 4},
                          {"leaq (%rdi), %rax", kNone, 0},
                          {"nopw 0x0(%rax,%rax,1)", kNone, 0},
                          {"prefetcht0 64(%rdi)", kPrefetch, 1},
                          {"vmovss (%rdi), %xmm0", kLoad, 4},
                          {"vmovsd %xmm0, (%rdi)", kStore, 8},
                          {"movhps (%rdi), %xmm0", kLoad, 8},
                          {"vmovups (%rdi), %zmm0", kLoad, 64},
                          {"vmovaps %ymm0, (%rdi)", kStore, 32},
                          {"vmovdqu8 %zmm0, (%rdi){%k1}", kStore, 64},
                          {"vaddps (%rdi), %ymm1, %ymm0", kLoad, 32},
                          {"vaddps (%rdi){1to16}, %zmm1, %zmm0", kLoad, 4},
                          {"vfmadd231pd (%rdi){1to8}, %zmm1, %zmm0", kLoad, 8},
                          {"vcvtdq2pd (%rdi){1to8}, %zmm0", kLoad, 4},
                          {"vfmadd231ss (%rdi), %xmm1, %xmm0", kLoad, 4},
                          {"ucomiss (%rdi), %xmm0", kLoad, 4},
                          {"vbroadcastss (%rdi), %zmm0", kLoad, 4},
                          {"vpbroadcastw (%rdi), %ymm0", kLoad, 2},
                          {"vbroadcastf32x4 (%rdi), %zmm0", kLoad, 16},
                          {"vinsertf64x4 $1, (%rdi), %zmm0, %zmm0", kLoad, 32},
                          {"vextractf128 $1, %ymm0, (%rdi)", kStore, 16},
                          {"vpextrw $3, %xmm0, (%rdi)", kStore, 2},
                          {"vpmovzxbd (%rdi), %zmm0", kLoad, 16},
                          {"vpmovsxwd (%rdi), %ymm0", kLoad, 16},
                          {"vpmovdb %zmm0, (%rdi)", kStore, 16},
                          {"vpmovuswb %ymm0, (%rdi)", kStore, 16},
                          {"vcvtps2pd (%rdi), %ymm0", kLoad, 16},
                          {"vcvtph2ps (%rdi), %zmm0", kLoad, 32},
                          {"vcvtps2ph $4, %zmm0, (%rdi)", kStore, 32},
                          {"vcvtpd2psy (%rdi), %xmm0", kLoad, 32},
                          {"vcvtpd2ps (%rdi), %ymm0", kLoad, 64},
                          {"cvtdq2pd (%rdi), %xmm0", kLoad, 8},
                          {"cvtsi2ssl (%rdi), %xmm0", kLoad, 4},
                          {"vcvtsi2sdq (%rdi), %xmm0, %xmm0", kLoad, 8},
                          {"cvttss2si (%rdi), %eax", kLoad, 4},
                          {"vpslld (%rdi), %zmm1, %zmm0", kLoad, 16},
                          {"vpslld $3, (%rdi), %zmm0", kLoad, 64},
                          {"vpsllvd (%rdi), %zmm1, %zmm0", kLoad, 64},
                          {"vpminsd (%rdi), %ymm1, %ymm0", kLoad, 32},
                          {"vpabsd (%rdi), %ymm0", kLoad, 32},
                          {"vpermps (%rdi), %ymm1, %ymm0", kLoad, 32},
                          {"kmovw (%rdi), %k1", kLoad, 2},
                          {"fldt (%rdi)", kLoad, 10},
                          {"fstps (%rdi)", kStore, 4},
                          {"fildll (%rdi)", kLoad, 8},
                          {"vmovntps %zmm0, (%rdi)", kStore, 64},
                          {"movntiq %rax, (%rdi)", kStore, 8},
                          {"vgatherdps (%rdi,%zmm1,4), %zmm0{%k1}", kLoad, 64},
                          {"vgatherqps %xmm3, (%rdi,%ymm1,4), %xmm0", kLoad, 16},
                          {"vpscatterdq %zmm0, (%rdi,%ymm1,8){%k1}", kStore, 64},
                          {"movq %fs:40, %rax", kLoad, 8},
                          {"call *8(%rax)", kLoad, 8},
                          {"fadd %st(1), %st", kNone, 0}};
  for (const Width& width : widths) {
    const MemoryAccess access = AccessOf(One(width.text));
    EXPECT_EQ(access.kind, width.kind) << width.text;
    EXPECT_EQ(access.bytes, width.bytes) << width.text;
  }
}

TEST(MemoryAccess, PartsOfAnAddress) {
  const Address address = ParseAddress("%fs:-8+x(%rax,%rcx,4){1to8}");
  EXPECT_EQ(address.segment, "fs");
  EXPECT_EQ(address.displacement, "-8+x");
  EXPECT_EQ(address.base, "rax");
  EXPECT_EQ(address.index, "rcx");
  EXPECT_EQ(address.scale, 4);
  EXPECT_EQ(ParseAddress("(,%rbx,8)").index, "rbx");
  EXPECT_EQ(ParseAddress("table").displacement, "table");
}

TEST(InstructionMix, FloatingPoint) {
  Mix mix = MixOne("vfmadd231ps (%rdi), %zmm1, %zmm0");
  EXPECT_EQ(mix.flops, 32U);
  EXPECT_EQ(mix.fma_flops, 32U);
  EXPECT_EQ(mix.vector_flops, 32U);
  EXPECT_EQ(mix.vector_fp, 1U);
  EXPECT_EQ(mix.fp_bits, 512U);
  EXPECT_EQ(mix.multiplying, 1U);
  EXPECT_EQ(mix.loads, 1U);
  mix = MixOne("mulsd %xmm1, %xmm0");
  EXPECT_EQ(mix.flops, 1U);
  EXPECT_EQ(mix.scalar_fp, 1U);
  EXPECT_EQ(mix.vector_flops, 0U);
  EXPECT_EQ(mix.fp_bits, 64U);
  EXPECT_EQ(MixOne("vmaxpd %ymm0, %ymm1, %ymm2").flops, 4U);
  EXPECT_EQ(MixOne("vdpbf16ps %zmm0, %zmm1, %zmm2").flops, 64U);
  EXPECT_EQ(MixOne("vsqrtps %ymm0, %ymm1").divisions, 1U);
  EXPECT_EQ(MixOne("idivl %ecx").divisions, 1U);
  EXPECT_EQ(MixOne("fadds (%rdi)").flops, 1U);
  for (const char* none : {"vaddss_", "paddd %xmm0, %xmm1", "vmovaps %zmm0, %zmm1", "addl $1, %eax",
                           "vandps %ymm0, %ymm1, %ymm2", "vpminsd %ymm0, %ymm1, %ymm2"}) {
    EXPECT_EQ(MixOne(none).flops, 0U) << none;
  }
}

TEST(InstructionMix, TheRest) {
  EXPECT_EQ(MixOne("jne .L3").branches, 1U);
  EXPECT_EQ(MixOne("jmp .L3").branches, 0U);
  EXPECT_EQ(MixOne("jmp expf@PLT").calls, 1U);
  EXPECT_EQ(MixOne("lock incl (%rdi)").locked, 1U);
  EXPECT_EQ(MixOne("xchgl %eax, (%rdi)").locked, 1U);
  EXPECT_EQ(MixOne("vcvttps2dq %ymm0, %ymm1").conversions, 1U);
  EXPECT_EQ(MixOne("vbroadcastss %xmm0, %ymm1").shuffles, 1U);
  EXPECT_EQ(MixOne("vbroadcastss (%rdi), %ymm1").shuffles, 0U);
  EXPECT_EQ(MixOne("vunpcklps %ymm0, %ymm1, %ymm2").shuffles, 1U);
  EXPECT_EQ(MixOne("vgatherdps (%rdi,%zmm1,4), %zmm0{%k1}").gathers, 1U);
  EXPECT_EQ(MixOne("vmovntps %ymm0, (%rdi)").nt_stores, 1U);
  EXPECT_EQ(MixOne("movq 8(%rsp), %rax").stack_accesses, 1U);
  EXPECT_EQ(MixOne("movq 8(%rsp,%rcx,8), %rax").stack_accesses, 0U);
  EXPECT_EQ(MixOne("movq 8(%rbp), %rax").stack_accesses, 0U);
  EXPECT_EQ(MixOf(One("movq 8(%rbp), %rax"), true).stack_accesses, 1U);
  EXPECT_EQ(MixOne("pushq %rbx").stores, 1U);
  EXPECT_EQ(MixOne("popcntq %rax, %rbx").loads, 0U);
  EXPECT_EQ(MixOne("movsq (%rsi), %es:(%rdi)").store_bytes, 8U);
}

TEST(InstructionMix, ConstantSizesOfStringOperations) {
  const Assembly assembly = ParseAssembly(
      "f:\n\tmovl $50, %ecx\n\trep stosq\n\tmovl $0x100, %edx\n\tcall memcpy@PLT\n"
      "\tmovq %rbx, %rdx\n\tcall memset@PLT\n\tret\n");
  const std::uint64_t counts[] = {3};
  EXPECT_EQ(TotalMix(assembly, counts).all.string_bytes, 3U * (400 + 256));
}

TEST(LibraryCalls, ByName) {
  EXPECT_EQ(LookUpCall("expf").elements, 1U);
  EXPECT_EQ(LookUpCall("tanh").elements, 1U);
  EXPECT_EQ(LookUpCall("__expf_finite").elements, 1U);
  EXPECT_EQ(LookUpCall("_ZGVeN16v_expf").elements, 16U);
  EXPECT_EQ(LookUpCall("_ZGVdN4vv_pow").elements, 4U);
  EXPECT_EQ(LookUpCall("_ZGVeM16v__Z3mineb").kind, LibraryCall::kOther);
  EXPECT_EQ(LookUpCall("GOMP_parallel").kind, LibraryCall::kParallelRegion);
  EXPECT_EQ(LookUpCall("__kmpc_fork_call").kind, LibraryCall::kParallelRegion);
  EXPECT_EQ(LookUpCall("__kmpc_barrier").kind, LibraryCall::kBarrier);
  EXPECT_EQ(LookUpCall("_ZnwmSt11align_val_t").kind, LibraryCall::kAllocation);
  EXPECT_EQ(LookUpCall("GOMP_loop_nonmonotonic_dynamic_next").kind, LibraryCall::kDispatch);
  EXPECT_EQ(LookUpCall("__kmpc_omp_task_with_deps").kind, LibraryCall::kDispatch);
  EXPECT_EQ(LookUpCall("GOMP_taskwait").kind, LibraryCall::kOther);
  EXPECT_EQ(LookUpCall("__kmpc_omp_task_alloc").kind, LibraryCall::kOther);
  EXPECT_EQ(LookUpCall("__kmpc_critical").kind, LibraryCall::kLock);
  EXPECT_EQ(LookUpCall("__kmpc_single").kind, LibraryCall::kSingle);
  for (const char* other : {"", "f", "_ZGV", "_ZGVeN", "memcpy", "__finite", "expo"}) {
    EXPECT_EQ(LookUpCall(other).kind, LibraryCall::kOther) << other;
  }
}

// Counted: counts the work of a kernel. The expected work follows from its source.
class Counted : public testing::TestWithParam<const char*> {
 protected:
  std::map<std::string, double> Measure(const std::string& source, std::vector<std::string> flags) {
    AssemblyBench bench(GetParam(), std::move(flags));
    const Assembly assembly = ParseAssembly(bench.Compile(source));
    const auto library = bench.Link(InsertBlockCounters(assembly), "counted");
    const char* const kernels[] = {"pragma_kernel"};
    const ChildRecord record = RunInChild(
        library, kernels,
        [](void* handle, const std::function<void()>& run, std::uint64_t* numbers) {
          run();
          const auto* counts = static_cast<std::uint64_t*>(dlsym(handle, kBlockCountsSymbol));
          const auto* number = static_cast<std::uint64_t*>(dlsym(handle, kBlockCountSymbol));
          if (*number > kTestNumbers) _exit(7);
          std::copy_n(counts, *number, numbers);
        });
    std::map<std::string, double> values;
    for (const Metric& metric : WorkMetrics(TotalMix(assembly, record.numbers))) {
      EXPECT_TRUE(values.emplace(metric.tag, metric.value).second) << metric.tag;
      EXPECT_EQ(metric.source, "exact count");
    }
    return values;
  }
  void SetUp() override {
    if (!CanInstrument()) GTEST_SKIP() << "not for this processor";
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Counted, testing::Values("g++", "clang++-19"),
                         [](const auto& test) { return test.param[0] == 'g' ? "gcc" : "clang"; });

constexpr const char* kTriad =
    "extern \"C\" void pragma_kernel(const float* __restrict x, float* __restrict out, void*) {\n"
    "  for (int i = 0; i < 1024; ++i) out[i] = x[i] * 3.0f + x[i + 1024];\n}\n";

TEST_P(Counted, ScalarTriad) {
  auto values = Measure(kTriad, {"-O1", "-ffp-contract=off"});
  EXPECT_EQ(values["flops"], 2048);
  EXPECT_EQ(values["vector_share"], 0);
  EXPECT_EQ(values["vector_bits"], 32);
  EXPECT_EQ(values["scalar_fp"], 2048);
  EXPECT_NEAR(values["store_bytes"], 4096, 64);
  EXPECT_NEAR(values["load_bytes"], 8192, 64);
  EXPECT_EQ(values["branches"], 1024);
  EXPECT_EQ(values["calls"], 0);
  EXPECT_EQ(values.contains("fma_share"), true);
}

TEST_P(Counted, VectorTriad) {
  if (!HasAvx2()) GTEST_SKIP() << "no AVX2 here";
  auto values = Measure(kTriad, {"-O3", "-mavx2", "-mfma"});
  EXPECT_EQ(values["flops"], 2048);
  EXPECT_EQ(values["vector_share"], 1);
  EXPECT_EQ(values["fma_share"], 1);
  EXPECT_EQ(values["vector_bits"], 256);
  EXPECT_EQ(values["vector_fp"], 128);
  EXPECT_NEAR(values["store_bytes"], 4096, 64);
}

TEST_P(Counted, CallsOfTheMathematicalLibrary) {
  const std::string source =
      "#include <cmath>\nextern \"C\" void pragma_kernel(const float* x, float* out, void*) {\n"
      "  for (int i = 0; i < 512; ++i) out[i] = std::tanh(x[i]) + std::exp(x[i]);\n}\n";
  auto values = Measure(source, {"-O2"});
  EXPECT_EQ(values["libm_calls"], 1024);
  EXPECT_EQ(values["libm_elements"], 1024);
  if (!HasAvx512() || std::string(GetParam()) != "g++") return;
  values = Measure(source, {"-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512"});
  EXPECT_EQ(values["libm_calls"], 64);
  EXPECT_EQ(values["libm_elements"], 1024);
}

TEST_P(Counted, RegionsBarriersAllocationsAndAtomics) {
  auto values = Measure(
      "#include <vector>\n#include <atomic>\n"
      "extern \"C\" void pragma_kernel(const float* x, float* out, void*) {\n"
      "  std::atomic<int> ticks{0};\n"
      "  for (int r = 0; r < 3; ++r) {\n    std::vector<float> v(1000 + r);\n"
      "#pragma omp parallel\n    {\n#pragma omp for\n      for (int i = 0; i < 1000; ++i) v[i] = "
      "x[i];\n"
      "#pragma omp barrier\n      ticks.fetch_add(1);\n    }\n    out[r] = v[r] + ticks;\n  }\n}\n",
      {"-O2", "-fopenmp"});
  EXPECT_EQ(values["parallel_regions"], 3);
  EXPECT_EQ(values["barriers"], 6);
  EXPECT_EQ(values["allocations"], 3);
  EXPECT_EQ(values["atomic_count"], 3);
}

TEST_P(Counted, TasksChunksLocksAndSingles) {
  auto values = Measure(
      "extern \"C\" void pragma_kernel(const float* x, float* out, void*) {\n"
      "#pragma omp parallel\n  {\n"
      "#pragma omp single\n    for (int i = 0; i < 64; ++i) {\n"
      "#pragma omp task firstprivate(i)\n      out[i] = x[i];\n    }\n"
      "#pragma omp for schedule(dynamic)\n    for (int i = 64; i < 512; ++i) out[i] = x[i];\n"
      "#pragma omp critical\n    out[0] += 1;\n  }\n}\n",
      {"-O2", "-fopenmp"});
  // Clang's run-time hands one thread the whole loop at once. The question after the last chunk
  // counts too.
  const double chunks = std::string(GetParam()) == "g++" ? 448 : 1;
  EXPECT_NEAR(values["dispatches"], 64 + chunks, 2);
  EXPECT_EQ(values["lock_calls"], 1);
  EXPECT_EQ(values["single_sections"], 1);
}

TEST_P(Counted, OnlyDivisionsOfSingleNumbersAreScalar) {
  const std::string source =
      "extern \"C\" void pragma_kernel(const float* x, float* out, void*) {\n"
      "  for (int i = 0; i < 512; ++i) out[i] = 1 / x[i];\n}\n";
  auto values = Measure(source, {"-O1"});
  EXPECT_EQ(values["division_count"], 512);
  EXPECT_EQ(values["scalar_division_count"], 512);
  values = Measure(source, {"-O3", "-mavx2"});
  EXPECT_EQ(values["scalar_division_count"], 0);
  const std::string integers =
      "extern \"C\" void pragma_kernel(const float* x, float* out, void*) {\n"
      "  for (int i = 1; i < 512; ++i) out[i] = (int)x[i] % i;\n}\n";
  values = Measure(integers, {"-O1"});
  EXPECT_EQ(values["division_count"], 511);
  EXPECT_EQ(values["scalar_division_count"], 0);
}

TEST_P(Counted, SpillsAreSeenInLoopsOnly) {
  std::string loop = "  for (int i = 0; i < 1000; ++i) {\n";
  std::string before;
  std::string after;
  for (int k = 0; k < 24; ++k) {
    const std::string name = "s" + std::to_string(k);
    before += "  long " + name + " = (long)x[" + std::to_string(k) + "];\n";
    loop += "    " + name + " = " + name + " * 3 + s" + std::to_string((k + 1) % 24) + ";\n";
    after += "  out[" + std::to_string(k) + "] = (float)" + name + ";\n";
  }
  const std::string head = "extern \"C\" void pragma_kernel(const float* x, float* out, void*) {\n";
  auto values =
      Measure(head + before + loop + "  }\n" + after + "}\n", {"-O2", "-fno-tree-vectorize"});
  EXPECT_GT(values["spill_traffic"], 0.5);
  values = Measure(kTriad, {"-O2"});
  EXPECT_EQ(values["spill_traffic"], 0);
}

TEST_P(Counted, HotInstructionsAreThoseOfTheLoop) {
  const auto values = Measure(kTriad, {"-O1"});
  EXPECT_GE(values.at("hot_instructions"), 4);
  EXPECT_LE(values.at("hot_instructions"), 10);
}

}  // namespace
}  // namespace pragma
