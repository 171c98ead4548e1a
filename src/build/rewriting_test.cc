// Compares instrumented kernels with plain ones: from the same compiler's assembly, the results
// must have the same bits.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "build/assembly.h"
#include "build/assembly_kernels_testing.h"
#include "build/assembly_testing.h"
#include "build/block_counters.h"
#include "build/trace_calls.h"
#include "worker/profiler/trace_model.h"

namespace pragma {
namespace {

struct Build {
  std::string name;
  std::string compiler;
  std::vector<std::string> flags;
  friend void PrintTo(const Build& build, std::ostream* out) { *out << build.name; }
};

std::vector<Build> Builds() {
  std::vector<Build> builds;
  for (const char* compiler : {"g++", "clang++-19"}) {
    const std::string start = compiler[0] == 'g' ? "gcc" : "clang";
    builds.push_back({start + "O1", compiler, {"-O1"}});
    builds.push_back({start + "O2NoPlt", compiler, {"-O2", "-fno-plt", "-fcf-protection=full"}});
    builds.push_back({start + "Frame", compiler, {"-O3", "-fno-omit-frame-pointer", "-fopenmp"}});
    if (HasAvx2()) {
      builds.push_back({start + "Avx2", compiler, {"-O3", "-mavx2", "-mfma", "-fopenmp"}});
    }
    if (HasAvx512()) {
      builds.push_back({start + "Avx512Fast",
                        compiler,
                        {"-O3", "-march=native", "-ffast-math", "-fveclib=libmvec",
                         "-mprefer-vector-width=512", "-funroll-loops"}});
      if (start == "gcc") std::erase(builds.back().flags, "-fveclib=libmvec");
    }
  }
  return builds;
}

class Rewriting : public testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    if (!CanInstrument()) GTEST_SKIP() << "not for this processor";
  }
};

INSTANTIATE_TEST_SUITE_P(Compilers, Rewriting, testing::ValuesIn(Builds()),
                         [](const auto& test) { return test.param.name; });

void ExpectSameBits(const ChildRecord& a, const ChildRecord& b) {
  for (std::size_t i = 0; i < kTestKernels.size(); ++i) {
    EXPECT_EQ(std::memcmp(a.out[i].data(), b.out[i].data(), kTestFloats * sizeof(float)), 0)
        << kTestKernels[i];
  }
}

std::uint64_t NumberAt(void* handle, const char* symbol) {
  const auto* number = static_cast<std::uint64_t*>(dlsym(handle, symbol));
  if (number == nullptr || *number > kTestNumbers) _exit(7);
  return *number;
}

// Subtracts what was executed during loading (constructors).
void CountBlocks(void* handle, const std::function<void()>& run, std::uint64_t* numbers) {
  const auto* counts = static_cast<std::uint64_t*>(dlsym(handle, kBlockCountsSymbol));
  const std::uint64_t blocks = NumberAt(handle, kBlockCountSymbol);
  const std::vector<std::uint64_t> before(counts, counts + blocks);
  run();
  for (std::size_t i = 0; i < blocks; ++i) numbers[i] = counts[i] - before[i];
}

// Checks that the entries of a block agree with its predecessors: at least all entries of the
// predecessors that have no other successor, and at most all entries of all predecessors.
void ExpectFlow(const Assembly& assembly, const std::vector<std::uint64_t>& counts) {
  std::vector<std::uint64_t> low(assembly.blocks.size());
  std::vector<std::uint64_t> high(assembly.blocks.size());
  for (std::size_t i = 0; i < assembly.blocks.size(); ++i) {
    const auto& successors = assembly.blocks[i].successors;
    for (const std::size_t next : successors) {
      high[next] += counts[i];
      if (successors.size() == 1) low[next] += counts[i];
    }
  }
  for (std::size_t i = 0; i < assembly.blocks.size(); ++i) {
    const Block& block = assembly.blocks[i];
    if (block.function == "kernel_exceptions") continue;  // landing pads have no edges
    EXPECT_GE(counts[i], low[i]) << "block " << i << " " << block.label;
    const bool entry = block.label == block.function;
    if (!entry) {
      EXPECT_LE(counts[i], high[i]) << "block " << i << " " << block.label;
    }
  }
}

void LookUpKernel(void* handle, const std::function<void()>& run, std::uint64_t* numbers) {
  auto* const* addresses = static_cast<void**>(dlsym(handle, kPlaceAddressesSymbol));
  numbers[0] = NumberAt(handle, kPlaceCountSymbol);
  const void* kernel = dlsym(handle, "kernel_triad");
  for (std::size_t i = 0; i < numbers[0]; ++i) {
    if (addresses[i] == kernel) numbers[1] = i + 1;
  }
  run();
}

std::uint64_t* g_numbers;  // numbers of accesses, branches, taken branches, and addresses in the
                           // first page

// Like the functions of the model, these may touch general registers only.
__attribute__((target("general-regs-only"))) void SeeAccess(std::uint64_t address, std::uint32_t) {
  ++g_numbers[0];
  g_numbers[3] += address < 4096 ? 1 : 0;
}
__attribute__((target("general-regs-only"))) void SeeBranch(std::uint32_t, int taken) {
  ++g_numbers[1];
  g_numbers[2] += taken != 0 ? 1 : 0;
}

void Trace(void* handle, const std::function<void()>& run, std::uint64_t* numbers) {
  auto* access =
      static_cast<void (**)(std::uint64_t, std::uint32_t)>(dlsym(handle, kTraceAccessSymbol));
  auto* branch = static_cast<void (**)(std::uint32_t, int)>(dlsym(handle, kTraceBranchSymbol));
  if (access == nullptr || branch == nullptr) _exit(7);
  g_numbers = numbers;
  *access = SeeAccess;
  *branch = SeeBranch;
  run();
  numbers[4] = NumberAt(handle, kTraceSiteCountSymbol);
  numbers[5] = NumberAt(handle, kTraceBranchCountSymbol);
}

// Checks that the reports agree with what the counters say was executed.
void ExpectReports(const Assembly& assembly, const TraceProgram& program,
                   const std::vector<std::uint64_t>& counts,
                   const std::vector<std::uint64_t>& reports) {
  std::vector<std::uint64_t> executed(assembly.instructions.size());
  for (std::size_t i = 0; i < assembly.blocks.size(); ++i) {
    const Block& block = assembly.blocks[i];
    for (std::size_t k = block.first; k < block.end; ++k) executed[k] = counts[i];
  }
  std::uint64_t accesses = 0;
  for (const TraceSite& site : program.sites) accesses += executed[site.instruction];
  std::uint64_t branches = 0;
  for (const TraceBranch& branch : program.branches) branches += executed[branch.instruction];
  EXPECT_EQ(reports[0], accesses);
  EXPECT_EQ(reports[1], branches);
  EXPECT_GT(reports[2], 0U);
  EXPECT_LT(reports[2], branches);
  EXPECT_EQ(reports[3], 0U);
  EXPECT_EQ(reports[4], program.sites.size());
  EXPECT_EQ(reports[5], program.branches.size());
}

TEST_P(Rewriting, InstrumentedKernelsComputeTheSameBits) {
  AssemblyBench bench(GetParam().compiler, GetParam().flags);
  const std::string text = bench.Compile(TestKernelsSource());
  const Assembly assembly = ParseAssembly(text);
  const PlacedAssembly placed = InsertPlaces(assembly);
  const TraceProgram program = InsertTraceCalls(assembly);
  const auto plain = bench.Link(text, "plain");
  const auto counted = bench.Link(InsertBlockCounters(assembly), "counted");
  const auto marked = bench.Link(placed.text, "marked");
  const auto traced = bench.Link(program.text, "traced");
  ASSERT_FALSE(plain.empty() || counted.empty() || marked.empty() || traced.empty());
  const ChildRecord wanted = RunPlain(plain, kTestKernels);

  const ChildRecord counts = RunInChild(counted, kTestKernels, CountBlocks);
  ExpectSameBits(wanted, counts);
  ExpectFlow(assembly, counts.numbers);

  const ChildRecord places = RunInChild(marked, kTestKernels, LookUpKernel);
  ExpectSameBits(wanted, places);
  ASSERT_EQ(places.numbers[0], placed.places.size());
  ASSERT_GT(places.numbers[1], 0U);
  const CodePlace& first = placed.places[places.numbers[1] - 1];
  ASSERT_NE(first.block, CodePlace::kOutside);
  EXPECT_EQ(assembly.blocks[first.block].function, "kernel_triad");

  const ChildRecord reports = RunInChild(traced, kTestKernels, Trace);
  ExpectSameBits(wanted, reports);
  ExpectSameBits(wanted, RunPlain(traced, kTestKernels));  // no reporting function is set
  ExpectReports(assembly, program, counts.numbers, reports.numbers);
}

}  // namespace
}  // namespace pragma
