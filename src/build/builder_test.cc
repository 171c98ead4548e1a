// Tests real compilers in real build jails.
#include "build/builder.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "build/testing.h"

namespace pragma {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const std::string kPlain = KernelSource("  for (int i = 0; i < task::n; ++i) out[i] = 2 * x[i];");

class Compilers : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Builder, Compilers, testing::Values("g++", "clang++"),
                         [](const auto& name) { return name.param == "g++" ? "gcc" : "clang"; });

// The kernel is trusted code of this test, so it may be loaded here.
using Kernel = void (*)(const float*, float*, void*);
Kernel Load(const BuiltKernel& kernel) {
  void* library = ::dlopen(kernel.shared_object.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << ::dlerror();
  return library == nullptr ? nullptr : reinterpret_cast<Kernel>(::dlsym(library, "pragma_kernel"));
}

TEST_P(Compilers, APlainKernelIsBuiltAndRuns) {
  const TestBuilder builder;
  const auto outcome = builder.Build(TestCandidate(
      "#include <cmath>\n#include <immintrin.h>\n#include <omp.h>\n" +
          KernelSource("#pragma omp parallel for\n  for (int i = 0; i < task::n; ++i) out[i] = "
                       "std::exp(x[i]) + std::tanh(x[i]);"),
      {"-O3", "-march=native", "-fopenmp"}, GetParam()));
  const BuiltKernel* kernel = Built(outcome);
  ASSERT_NE(kernel, nullptr);
  EXPECT_FALSE(kernel->from_cache);
  EXPECT_GT(kernel->milliseconds, 0);
  EXPECT_EQ(kernel->scratch_bytes, 0U);
  EXPECT_FALSE(kernel->has_prepare);
  EXPECT_THAT(kernel->compiler, HasSubstr(GetParam() == "g++" ? "g++" : "clang"));
  const std::vector<float> x(1024, 0.0F);
  std::vector<float> out(1024, 7.0F);
  Load (*kernel)(x.data(), out.data(), nullptr);
  EXPECT_EQ(out, std::vector<float>(1024, 1.0F));
}

TEST_P(Compilers, ContainersAndExceptionsOfTheStandardLibraryWork) {
  const TestBuilder builder;
  const auto outcome = builder.Build(TestCandidate(
      KernelSource(
          "  std::vector<float> v(x, x + 8);\n  std::map<int, std::string> m{{1, \"a\"}};\n"
          "  std::unordered_map<int, int> u{{1, 2}};\n  std::sort(v.begin(), v.end());\n"
          "  try { if (v.at(7) > 1e30F) throw std::runtime_error(\"x\"); } catch (const "
          "std::exception&) {}\n"
          "  out[0] = v[0] + (float)m.size() + (float)u[1];",
          "#include <algorithm>\n#include <iostream>\n#include <map>\n#include "
          "<stdexcept>\n#include <string>\n"
          "#include <unordered_map>\n#include <vector>"),
      {"-O2"}, GetParam()));
  EXPECT_NE(Built(outcome), nullptr);
}

TEST_P(Compilers, ScratchAndPackedSizesAreReadFromTheObject) {
  const TestBuilder builder;
  const auto outcome = builder.Build(
      TestCandidate("extern \"C\" constinit const std::size_t pragma_scratch_bytes = task::n * 4;\n"
                    "extern \"C\" constinit const std::size_t pragma_packed_bytes = 128;\n"
                    "extern \"C\" void pragma_prepare(const float*, void*) {}\n" +
                        kPlain,
                    {"-O1"}, GetParam()));
  const BuiltKernel* kernel = Built(outcome);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->scratch_bytes, 4096U);
  EXPECT_EQ(kernel->packed_bytes, 128U);
  EXPECT_TRUE(kernel->has_prepare);
}

// Flush-to-zero is what -ffast-math at the link step would set in the process that loads the
// object.
TEST_P(Compilers, FastMathDoesNotSetFlushToZero) {
  const TestBuilder builder;
  const auto outcome =
      builder.Build(TestCandidate(kPlain, {"-Ofast", "-ffast-math", "-march=native"}, GetParam()));
  const BuiltKernel* kernel = Built(outcome);
  ASSERT_NE(kernel, nullptr);
  const unsigned before = _mm_getcsr();
  ASSERT_NE(Load(*kernel), nullptr);
  EXPECT_EQ(_mm_getcsr(), before);
}

TEST_P(Compilers, ATemplateBombEndsAtALimit) {
  BuildLimits limits;
  limits.wall = Seconds{20};
  limits.cpu = Seconds{3};
  limits.address_space_bytes = std::size_t{1} << 30U;
  const TestBuilder builder(limits);
  const auto failure =
      Failed(builder.Build(TestCandidate("template <unsigned long N, int D> struct B { static "
                                         "constexpr auto v = B<N * 2, D - 1>::v + B<N * 2 + 1, D - "
                                         "1>::v; };\ntemplate <unsigned long N> struct B<N, 0> { "
                                         "static constexpr unsigned long v = N; };\n" +
                                             KernelSource("  out[0] = (float)B<1, 40>::v;"),
                                         {"-O1"}, GetParam())));
  EXPECT_THAT(failure.status, AnyOf(Status::kTimeout, Status::kOutOfMemory));
  EXPECT_THAT(failure.reason, AnyOf(HasSubstr("did not end within"), HasSubstr("memory")));
}

TEST_P(Compilers, MemoryHungryTablesAreRefusedWithAReason) {
  const TestBuilder builder;
  const auto failure =
      Failed(builder.Build(TestCandidate("const unsigned char table[200u << 20] = {1};\n" +
                                             KernelSource("  out[0] = table[(int)x[0]];"),
                                         {"-O1"}, GetParam())));
  EXPECT_THAT(failure.status, AnyOf(Status::kRejectedSource, Status::kOutOfMemory)) << failure.log;
  EXPECT_THAT(failure.reason, HasSubstr("tables"));
}

TEST_P(Compilers, TheSourceSeesNoFileOfTheHost) {
  const TestBuilder builder;
  // The source deliberately evades the tripwires, because the jail must hold alone.
  const auto failure = Failed(builder.Build(
      TestCandidate(KernelSource("  asm(\".inc\" \"bin \\\"/etc/passwd\\\"\");\n  out[0] = x[0];"),
                    {"-O1"}, GetParam())));
  EXPECT_EQ(failure.status, Status::kCompileError);
  EXPECT_THAT(failure.log, AnyOf(HasSubstr("/etc/passwd"), HasSubstr("file not found")));
}

TEST(Builder, RejectionsSayWhatToDo) {
  struct Case {
    std::string source;
    std::string says;
  };
  const std::vector<Case> cases = {
      {KernelSource("  cblas_sgemm(x);", "extern \"C\" void cblas_sgemm(const float*);"),
       "uses cblas_sgemm: no library may be called; write the product yourself"},
      {KernelSource("  printf(\"hello %f\", x[0]);", "#include <cstdio>"),
       "a kernel may not print"},
      {KernelSource("  std::cout << x[0];", "#include <iostream>"), "uses std::"},
      {KernelSource("  std::thread t([] {}); t.join();", "#include <thread>"), "OpenMP only"},
      {KernelSource("  helper(x);", "void helper(const float*);"),
       "uses helper(float const*), which this file does not"},
      {KernelSource("  out[0] = omp_get_max_threads();", "#include <omp.h>"),
       "needs the compile flag -fopenmp"},
      {KernelSource("  exit(0);", "#include <cstdlib>"), "may not end the process"},
      {KernelSource("  system(\"id\");", "#include <cstdlib>"), "may not start programs"},
      {KernelSource("  out[0] = (float)clock();", "#include <ctime>"), "look at the clock"},
      {"int f() { return 1; }", "does not define pragma_kernel"},
      {"void pragma_kernel(const float*, const float*, float*) {}", "write extern \"C\""},
      {"static void pragma_kernel(int) {}", "does not define pragma_kernel"},
      {"__attribute__((target_clones(\"avx2\", \"default\"))) float f(float x) { return x * 2; "
       "}\n" +
           KernelSource("  out[0] = f(x[0]);"),
       "target_clones"},
      {"std::size_t n();\nextern \"C\" const std::size_t pragma_scratch_bytes = n();\nstd::size_t "
       "n() { volatile int k = 3; return k; }\n" +
           kPlain,
       "must be a constant"},
      {"extern \"C\" std::size_t pragma_scratch_bytes;\nstd::size_t pragma_scratch_bytes = 5;\n" +
           kPlain,
       "must be a constant"},
      {"extern \"C\" constinit const int pragma_scratch_bytes = 5;\n" + kPlain,
       "must be a constant"},
      {"extern \"C\" constinit const std::size_t pragma_scratch_bytes = 1ul << 50;\n" + kPlain,
       "the limit is 1.00 GiB"},
      {"extern \"C\" constinit const std::size_t pragma_packed_bytes = 64;\n" + kPlain,
       "needs a pragma_prepare"},
      {"extern \"C\" void pragma_prepare(const float*, void*) {}\n" + kPlain,
       "needs a constant pragma_packed_bytes"}};
  const TestBuilder builder;
  for (const Case& one : cases) {
    const auto failure = Failed(builder.Build(TestCandidate(one.source)));
    EXPECT_EQ(failure.status, Status::kRejectedSource) << one.source << failure.reason;
    EXPECT_THAT(failure.reason, HasSubstr(one.says)) << one.source;
  }
}

TEST(Builder, WhatIsWrongBeforeCompilingIsRejected) {
  const TestBuilder builder;
  EXPECT_THAT(Failed(builder.Build(TestCandidate(kPlain, {"-fplugin=/x.so"}))).reason,
              HasSubstr("-fplugin=/x.so"));
  EXPECT_THAT(Failed(builder.Build(TestCandidate("#include \"/etc/passwd\"\n" + kPlain))).reason,
              HasSubstr("/etc/passwd"));
  EXPECT_THAT(Failed(builder.Build(TestCandidate(kPlain, {}, "/bin/sh"))).reason,
              HasSubstr("g++ or clang++"));
  Candidate two = TestCandidate(kPlain);
  two.files["other.cpp"] = "int x;";
  EXPECT_THAT(Failed(builder.Build(two)).reason, HasSubstr("exactly one file"));
  Candidate python = TestCandidate(kPlain);
  python.language = Language::kPython;
  EXPECT_THAT(Failed(builder.Build(python)).reason, HasSubstr("python"));
  Candidate tuned = TestCandidate(kPlain);
  tuned.tunables["X 1\n#include"] = 1;
  EXPECT_THAT(Failed(builder.Build(tuned)).reason, HasSubstr("is not an identifier"));
  EXPECT_EQ(Failed(builder.Build(tuned)).status, Status::kRejectedSource);
}

TEST(Builder, AnUnknownButAllowedFlagIsACompileError) {
  const TestBuilder builder;
  const auto failure = Failed(builder.Build(TestCandidate(kPlain, {"-fvectorize"})));  // a flag of
                                                                                       // clang only
  EXPECT_EQ(failure.status, Status::kCompileError);
  EXPECT_THAT(failure.reason, HasSubstr("-fvectorize"));
}

TEST(Builder, OnlyTheContractIsExported) {
  const TestBuilder builder;
  const auto outcome =
      builder.Build(TestCandidate("int global = 3;\nint helper() { return global; }\n" +
                                  KernelSource("  out[0] = (float)helper();")));
  const BuiltKernel* kernel = Built(outcome);
  ASSERT_NE(kernel, nullptr);
  void* library = ::dlopen(kernel->shared_object.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(::dlsym(library, "_Z6helperv"), nullptr);
  EXPECT_EQ(::dlsym(library, "global"), nullptr);
}

TEST(Builder, ConstructorsAndOddInstructionsAreNoted) {
  const TestBuilder builder;
  const auto outcome = builder.Build(TestCandidate(
      "__attribute__((constructor)) static void f() { asm volatile(\"syscall\"); }\n" + kPlain));
  const BuiltKernel* kernel = Built(outcome);
  ASSERT_NE(kernel, nullptr);
  std::string notes;
  for (const Check& check : kernel->checks) notes += check.detail + "\n";
  EXPECT_THAT(notes, HasSubstr("1 constructor(s) run at load"));
  EXPECT_THAT(notes, HasSubstr("instructions syscall"));
}

TEST(Builder, TunablesReachTheSource) {
  const TestBuilder builder;
  Candidate candidate =
      TestCandidate("#ifndef PRAGMA_TUNE_TILE\n#define PRAGMA_TUNE_TILE 6\n#endif\n" +
                    KernelSource("  out[0] = PRAGMA_TUNE_TILE;"));
  const std::vector<float> x(4);
  const auto run = [&](const Candidate& one) {
    float out = 0;
    const auto outcome = builder.Build(one);
    if (const BuiltKernel* kernel = Built(outcome)) Load (*kernel)(x.data(), &out, nullptr);
    return out;
  };
  EXPECT_EQ(run(candidate), 6.0F);
  candidate.tunables = {{"TILE", -12}};
  EXPECT_EQ(run(candidate), -12.0F);
}

TEST(Builder, ASourceMayChooseThePrototypeBeforeItIncludesTheHeader) {
  const TempDir folder = TempDir::Create().value();
  const Builder builder(TestJail(), folder.path());
  const std::string header =
      "#pragma once\n#include <cstddef>\n#ifdef PRAGMA_PREPACKED\n"
      "extern \"C\" void pragma_kernel(const float*, float*, const void*, void*);\n#else\n"
      "extern \"C\" void pragma_kernel(const float*, float*, void*);\n#endif\n";
  for (const std::string include : {"#include \"kernel.h\"", "#include <kernel.h>  // ours"}) {
    const auto outcome = builder.Build(
        TestCandidate("#define PRAGMA_PREPACKED\n" + include +
                      "\nextern \"C\" void pragma_kernel(const float* x, float* out, const void*, "
                      "void*) { out[0] = x[0]; }\n"),
        header);
    ASSERT_TRUE(outcome);
    EXPECT_NE(Built(*outcome), nullptr);
  }
}

// --- cache ---

std::filesystem::path ObjectOf(const BuildOutcome& outcome) {
  const BuiltKernel* kernel = Built(outcome);
  return kernel == nullptr ? std::filesystem::path() : kernel->shared_object;
}

TEST(BuilderCache, TheSameCandidateIsBuiltOnce) {
  const TestBuilder builder;
  const auto first = builder.Build(TestCandidate(kPlain));
  const auto second = builder.Build(TestCandidate(kPlain));
  const BuiltKernel* a = Built(first);
  const BuiltKernel* b = Built(second);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_TRUE(b->from_cache);
  EXPECT_EQ(a->sha256, b->sha256);
  EXPECT_EQ(a->shared_object, b->shared_object);
  EXPECT_EQ(a->compiler, b->compiler);
  EXPECT_EQ(a->checks.size(), b->checks.size());
}

TEST(BuilderCache, WhateverMattersMakesAnotherEntry) {
  const TestBuilder builder;
  const auto plain = ObjectOf(builder.Build(TestCandidate(kPlain)));
  Candidate tuned = TestCandidate(kPlain);
  tuned.tunables = {{"TILE", 8}};
  EXPECT_NE(ObjectOf(builder.Build(TestCandidate(kPlain, {"-O2"}))), plain);
  EXPECT_NE(ObjectOf(builder.Build(TestCandidate(kPlain, {"-O1"}, "clang++"))), plain);
  EXPECT_NE(ObjectOf(builder.Build(TestCandidate(kPlain + "\n"))), plain);
  EXPECT_NE(ObjectOf(builder.Build(tuned)), plain);
}

TEST(BuilderCache, ADamagedEntryIsBuiltAgain) {
  const TestBuilder builder;
  for (const char* file : {"kernel.so", "meta.json"}) {
    const auto object = ObjectOf(builder.Build(TestCandidate(kPlain)));
    const auto path = object.parent_path() / file;
    std::string bytes = ReadFile(path).value();
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(WriteFileAtomic(path, bytes));
    const auto again = builder.Build(TestCandidate(kPlain));
    ASSERT_NE(Built(again), nullptr);
    EXPECT_FALSE(Built(again)->from_cache) << file;
    EXPECT_TRUE(Built(builder.Build(TestCandidate(kPlain)))->from_cache);
  }
}

TEST(BuilderCache, NothingButEntriesIsLeftBehind) {
  const TestBuilder builder;
  static_cast<void>(builder.Build(TestCandidate(kPlain)));
  static_cast<void>(Failed(builder.Build(TestCandidate("nonsense"))));
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(builder.cache())) {
    EXPECT_EQ(entry.path().filename().string().size(), 64U) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, 1U);
}

TEST(BuilderCache, BuildersInParallelShareACache) {
  const TempDir folder = TempDir::Create().value();
  const Builder one(TestJail(), folder.path());
  const Builder two(TestJail(), folder.path());
  std::vector<std::string> hashes(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto outcome = (i % 2 == 0 ? one : two).Build(TestCandidate(kPlain), kTestHeader);
      if (outcome && std::holds_alternative<BuiltKernel>(*outcome))
        hashes[i] = std::get<BuiltKernel>(*outcome).sha256;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(hashes[0].size(), 64U);
  EXPECT_EQ(hashes, std::vector<std::string>(4, hashes[0]));
}

TEST(Builder, WorksWithoutASandboxWhenToldSo) {
  const auto jail = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kUnsafeNone);
  ASSERT_TRUE(jail) << jail.error().message;
  const TempDir folder = TempDir::Create().value();
  const Builder builder(*jail, folder.path() / "cache");
  const auto outcome = builder.Build(TestCandidate(kPlain), kTestHeader);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_NE(Built(*outcome), nullptr);
}

TEST(Builder, AMissingCompilerIsSaid) {
  const std::string path = std::getenv("PATH");
  const TestBuilder builder;
  ASSERT_EQ(::setenv("PATH", "/nowhere", 1), 0);
  const auto outcome = builder.Build(TestCandidate(kPlain, {}, "clang++"));
  ASSERT_EQ(::setenv("PATH", path.c_str(), 1), 0);
  const auto failure = Failed(outcome);
  EXPECT_EQ(failure.status, Status::kRejectedSource);
  EXPECT_THAT(failure.reason, HasSubstr("clang++ is not installed"));
}

}  // namespace
}  // namespace pragma
