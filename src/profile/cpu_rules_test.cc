// Tests knowledge/diagnosis/cpu.toml with loops whose cause is known (profile/diagnosis_testing.h).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/profile.h"
#include "knowledge/metrics_testing.h"
#include "profile/diagnosis.h"
#include "profile/diagnosis_testing.h"
#include "profile/rules.h"

namespace pragma {
namespace {

const RuleSet& CpuRules() {
  static const RuleSet rules = [] {
    auto loaded = LoadRules(PRAGMA_SOURCE_DIR "/knowledge/diagnosis/cpu.toml", ShippedMetrics());
    if (!loaded) ADD_FAILURE() << loaded.error().message;
    return loaded.value_or(RuleSet{});
  }();
  return rules;
}

struct Scene {
  std::string name;
  std::string cause;
  LoopModel loop;
};

// Amounts are per 16 floats, unless the loop is scalar. The comments say what the kernel would be.
std::vector<Scene> WorkScenes() {
  return {
      // y[i] = a * x[i] + y[i] in L1, which the compiler left scalar.
      {"scalar_axpy",
       "not_vectorised",
       {.instructions = 6, .scalar_fp = 1, .loads = 2, .stores = 1}},
      // A conv1d with K = 5: high IPC, but llvm-mca cannot read an inner loop.
      {"scalar_conv",
       "not_vectorised",
       {.instructions = 68,
        .scalar_fp = 10,
        .multiplications = 5,
        .loads = 15,
        .stores = 1,
        .branches = 12,
        .mca = false}},
      // A polynomial in SSE code: all work is in vectors, but they are narrow.
      {"narrow_vectors",
       "not_vectorised",
       {.instructions = 10,
        .vector_fp = 6,
        .vector_bits = 128,
        .multiplications = 6,
        .loads = 1,
        .stores = 0.5}},
      // A scalar stream from L2.
      {"scalar_stream",
       "not_vectorised",
       {.instructions = 6, .scalar_fp = 2, .loads = 2, .stores = 1, .l1_misses = 0.19}},
      // A sum with one scalar accumulator.
      {"scalar_sum",
       "dependency_chain",
       {.instructions = 3, .scalar_fp = 1, .multiplications = 0, .loads = 1, .chain = 3}},
      // A dot product with one vector accumulator.
      {"vector_dot",
       "dependency_chain",
       {.instructions = 4, .vector_fp = 1, .loads = 2, .chain = 4}},
      // A polynomial in Horner form whose next argument is its last result.
      {"recurrence",
       "dependency_chain",
       {.instructions = 14, .vector_fp = 8, .multiplications = 8, .loads = 1, .chain = 32}},
      // A matrix product without register reuse, in L1.
      {"no_register_tile",
       "port_pressure",
       {.instructions = 5, .vector_fp = 1, .loads = 3, .stores = 0.02}},
      // c[j] += a * b[j] for each k.
      {"stored_sums", "store_bound", {.instructions = 4, .vector_fp = 1, .loads = 1, .stores = 1}},
      // x[i] / y[i], vectorised.
      {"vector_division",
       "div_sqrt",
       {.instructions = 5,
        .vector_fp = 1,
        .multiplications = 0,
        .loads = 2,
        .stores = 1,
        .divisions = 1,
        .division_cycles = 10}},
      // x[i] % n with whole numbers, which vectors cannot divide.
      {"scalar_division",
       "div_sqrt",
       {.instructions = 6,
        .scalar_fp = 1,
        .multiplications = 0,
        .loads = 2,
        .stores = 1,
        .divisions = 1}},
      // x[i] / y[i], scalar: vectors divide several numbers in the time of one.
      {"scalar_float_division",
       "not_vectorised",
       {.instructions = 6,
        .scalar_fp = 1,
        .multiplications = 0,
        .loads = 2,
        .stores = 1,
        .divisions = 1,
        .scalar_divisions = 1}},
      // expf for each element: the call's own instructions are not counted.
      {"libm_softmax",
       "libm_calls",
       {.instructions = 16,
        .scalar_fp = 2,
        .loads = 3,
        .stores = 1,
        .libm_elements = 1,
        .mca = false}},
      // tanhf and a division for each element.
      {"libm_gelu",
       "libm_calls",
       {.instructions = 24,
        .scalar_fp = 6,
        .multiplications = 4,
        .loads = 4,
        .stores = 1,
        .libm_elements = 1,
        .divisions = 0.1,
        .mca = false}},
      // A register tile of 48 vectors on a machine with 32 registers.
      {"too_many_accumulators",
       "spills",
       {.instructions = 110,
        .vector_fp = 48,
        .multiplications = 48,
        .loads = 30,
        .stores = 18,
        .spilled = 36}},
      // The same with a panel that comes from L2, in a loop of several blocks.
      {"too_many_accumulators_l2",
       "spills",
       {.instructions = 150,
        .vector_fp = 48,
        .multiplications = 48,
        .loads = 42,
        .stores = 36,
        .spilled = 70,
        .l1_misses = 3,
        .mca = false}},
      // float arithmetic with double literals, vectorised.
      {"double_literals",
       "type_conversion",
       {.instructions = 9,
        .vector_fp = 2,
        .loads = 1,
        .stores = 1,
        .port_cycles = 4,
        .conversions = 3,
        .shuffles = 2}},
      // float arithmetic with double literals, scalar.
      {"scalar_double",
       "type_conversion",
       {.instructions = 8,
        .scalar_fp = 2,
        .loads = 1,
        .stores = 1,
        .port_cycles = 4,
        .conversions = 2}},
      // 8-bit integers scaled to float, streamed from L2.
      {"int8_stream",
       "type_conversion",
       {.instructions = 9,
        .vector_fp = 1,
        .loads = 0.5,
        .stores = 1,
        .port_cycles = 4,
        .conversions = 3,
        .l1_misses = 1.25,
        .mca = false}},
      // A horizontal sum for each output.
      {"horizontal_sums",
       "shuffles",
       {.instructions = 18,
        .vector_fp = 5,
        .loads = 2,
        .stores = 0.1,
        .port_cycles = 8,
        .shuffles = 8}},
      // De-interleaving of channels.
      {"interleaved",
       "shuffles",
       {.instructions = 16,
        .vector_fp = 3,
        .multiplications = 3,
        .loads = 3,
        .stores = 3,
        .port_cycles = 9,
        .shuffles = 9}},
      // Tiles of 16 by 16 that are scaled and transposed in registers, from L2, in a loop of
      // several
      // blocks.
      {"small_tiles",
       "shuffles",
       {.instructions = 14,
        .vector_fp = 1,
        .multiplications = 0,
        .loads = 2,
        .stores = 2,
        .port_cycles = 8,
        .shuffles = 8,
        .l1_misses = 2,
        .mca = false}},
      // Interleaved complex numbers, streamed from L2.
      {"complex_stream",
       "shuffles",
       {.instructions = 16,
        .vector_fp = 3,
        .multiplications = 3,
        .loads = 4,
        .stores = 2,
        .port_cycles = 8,
        .shuffles = 8,
        .l1_misses = 4,
        .mca = false}},
      // Table look-ups with vgatherdps.
      {"table_gather",
       "gather",
       {.instructions = 6, .vector_fp = 1, .loads = 2, .stores = 1, .gathers = 1}},
      // if (x[i] > 0) with random signs.
      {"random_branch",
       "branch_mispredict",
       {.instructions = 7,
        .scalar_fp = 1,
        .loads = 1,
        .stores = 0.5,
        .branches = 2,
        .mispredicts = 0.5,
        .mca = false}},
      // A compare-and-count over random data without floating-point arithmetic.
      {"random_count",
       "branch_mispredict",
       {.instructions = 6,
        .multiplications = 0,
        .loads = 1,
        .branches = 2,
        .mispredicts = 0.5,
        .mca = false}},
      // An excessively unrolled loop of 20,000 instructions.
      {"unrolled",
       "front_end",
       {.iterations = 1e3,
        .instructions = 20000,
        .vector_fp = 9000,
        .multiplications = 9000,
        .loads = 5000,
        .stores = 500,
        .branches = 10,
        .fetch_cycles = 4000,
        .hot_instructions = 20000,
        .mca = false}},
      // Rows of 260 floats with 512-bit loads that cross cache lines.
      {"unaligned_rows",
       "l1_splits",
       {.instructions = 5, .vector_fp = 1, .loads = 2, .stores = 0.1, .splits = 1.6}},
      // The blocked matrix product that was measured, with its data aligned to 16 bytes.
      {"unaligned_block",
       "l1_splits",
       {.instructions = 4.6,
        .vector_fp = 1,
        .loads = 1.5,
        .stores = 1,
        .splits = 2.25,
        .l1_misses = 0.26}},
      // Input and output have the same offset within a page.
      {"same_offset",
       "aliasing_4k",
       {.instructions = 5, .vector_fp = 1, .loads = 2, .stores = 1, .aliases = 0.9}},
      // Sixteen rows of 4 KiB, accessed in parallel.
      {"power_of_two_rows",
       "aliasing_4k",
       {.instructions = 20,
        .vector_fp = 16,
        .multiplications = 16,
        .loads = 17,
        .stores = 1,
        .l1_misses = 17,
        .overlap = 8,
        .line_use = 0.3,
        .conflicts = 0.9}},
      // A sum over the columns of a matrix in L2, scalar.
      {"columns_l2",
       "strided_access",
       {.instructions = 4,
        .scalar_fp = 1,
        .multiplications = 0,
        .loads = 1,
        .chain = 3,
        .l1_misses = 1,
        .overlap = 5,
        .line_use = 0.06}},
      // A sum over the columns of a large matrix, where each access is to another page.
      {"columns_dram",
       "strided_access",
       {.instructions = 4,
        .scalar_fp = 1,
        .multiplications = 0,
        .loads = 1,
        .chain = 3,
        .l1_misses = 1,
        .l2_misses = 1,
        .l3_misses = 0.1,
        .overlap = 6,
        .walks = 0.1,
        .line_use = 0.06}},
      // A naive matrix product of size 256: conflicts, half-filled vectors, a dependency chain.
      {"naive_matmul",
       "strided_access",
       {.instructions = 5.5,
        .scalar_fp = 1,
        .vector_fp = 0.5,
        .vector_bits = 64,
        .loads = 2,
        .chain = 3,
        .shuffles = 0.5,
        .l1_misses = 1.1,
        .overlap = 6,
        .line_use = 0.06,
        .conflicts = 0.9}},
      // Every sixteenth element of a tensor in memory.
      {"subsampled",
       "strided_access",
       {.instructions = 4,
        .scalar_fp = 1,
        .loads = 1,
        .stores = 0.1,
        .l1_misses = 1,
        .l2_misses = 1,
        .l3_misses = 1,
        .line_use = 0.06}},
      // A tensor of half a megabyte, read again and again.
      {"l2_stream", "l2_l3_bound", {.instructions = 4, .vector_fp = 1, .loads = 2, .l1_misses = 2}},
      // A tensor of 16 MiB, read in several passes.
      {"l3_stream",
       "l2_l3_bound",
       {.instructions = 4, .vector_fp = 1, .loads = 2, .l1_misses = 2, .l2_misses = 2}},
      // A triad over 256 MiB with one unnecessary pass.
      {"dram_stream",
       "dram_bandwidth",
       {.instructions = 5,
        .vector_fp = 1,
        .loads = 2,
        .stores = 1,
        .l1_misses = 3,
        .l2_misses = 3,
        .l3_misses = 3,
        .roofline_share = 0.5}},
      // The triad over 256 MiB in scalar code: the memory still determines the time.
      {"dram_scalar",
       "dram_bandwidth",
       {.instructions = 8,
        .scalar_fp = 1,
        .loads = 4,
        .stores = 1,
        .l1_misses = 0.5,
        .l2_misses = 0.5,
        .l3_misses = 0.5,
        .roofline_share = 0.5}},
      // A linked list through 256 MiB.
      {"pointer_chase",
       "dram_latency",
       {.iterations = 1e5,
        .instructions = 4,
        .scalar_fp = 1,
        .loads = 2,
        .chain = 3,
        .l1_misses = 1,
        .l2_misses = 1,
        .l3_misses = 1,
        .overlap = 1,
        .walks = 1,
        .line_use = 0.1}},
      // Scalar look-ups at random positions of a large table.
      {"random_lookup",
       "dram_latency",
       {.iterations = 1e6,
        .instructions = 6,
        .scalar_fp = 1,
        .loads = 2,
        .l1_misses = 1,
        .l2_misses = 1,
        .l3_misses = 1,
        .overlap = 8,
        .walks = 1,
        .line_use = 0.1}},
      // One cache line of each of 8192 pages.
      {"page_hopping",
       "tlb",
       {.instructions = 4,
        .scalar_fp = 1,
        .multiplications = 0,
        .loads = 1,
        .chain = 3,
        .l1_misses = 1,
        .overlap = 6,
        .walks = 1,
        .line_use = 0.06}},
      // Whole cache lines from many pages, read with vector loads.
      {"page_hopping_vector",
       "tlb",
       {.instructions = 4,
        .vector_fp = 1,
        .loads = 1,
        .l1_misses = 1,
        .l2_misses = 0.2,
        .overlap = 8,
        .walks = 0.9}},
      // A large temporary that is allocated in each call.
      {"fresh_temporary",
       "page_faults",
       {.iterations = 1e6,
        .instructions = 5,
        .vector_fp = 1,
        .loads = 2,
        .stores = 1,
        .l1_misses = 1,
        .l2_misses = 1,
        .l3_misses = 0.5,
        .faults = 16384}},
      // An atomic addition for each element, on one thread.
      {"atomic_sums",
       "atomics_contention",
       {.instructions = 8, .scalar_fp = 1, .loads = 2, .branches = 2, .atomics = 1, .mca = false}},
  };
}

std::vector<Scene> ThreadScenes() {
  // A register tile, where only the use of threads can be improved.
  const LoopModel vector_loop{
      .instructions = 6, .vector_fp = 3, .multiplications = 3, .loads = 1, .stores = 0.1};
  const auto with = [&](auto change) {
    LoopModel loop = vector_loop;
    loop.threads = 2;
    loop.regions = 1;
    change(loop);
    return loop;
  };
  return {
      {"serial", "not_parallel", with([](LoopModel& l) { l.imbalance = 2, l.regions = 0; })},
      {"serial_16", "not_parallel",
       with([](LoopModel& l) { l.threads = 16, l.imbalance = 16, l.regions = 0; })},
      // Half of the work is in a loop behind the parallel one.
      {"serial_tail", "not_parallel",
       with([](LoopModel& l) { l.imbalance = 1.5, l.serial_share = 0.5; })},
      // One thread packs while the others wait; which one that is changes from call to call.
      {"single_packs", "not_parallel", with([](LoopModel& l) { l.waiting = 0.3, l.singles = 1; })},
      // Whichever thread comes last gets the long row.
      {"last_takes_longest", "imbalance", with([](LoopModel& l) { l.waiting = 0.3; })},
      {"task_per_row", "over_parallel",
       with([](LoopModel& l) { l.efficiency = 0.1, l.dispatches = 1e5, l.iterations = 1e6; })},
      {"one_to_nine", "imbalance", with([](LoopModel& l) { l.imbalance = 1.8; })},
      {"batch_of_three", "imbalance", with([](LoopModel& l) { l.imbalance = 1.34; })},
      {"shared_lines", "false_sharing", with([](LoopModel& l) { l.efficiency = 0.14; })},
      {"shared_lines_mild", "false_sharing", with([](LoopModel& l) { l.efficiency = 0.4; })},
      {"shared_lines_scalar", "false_sharing",
       with([](LoopModel& l) { l.vector_fp = 0, l.scalar_fp = 1, l.efficiency = 0.2; })},
      {"region_in_loop", "over_parallel",
       with([](LoopModel& l) { l.iterations = 1e5, l.regions = 1000, l.region_loss_us = 1; })},
      {"tiny_call", "over_parallel",
       with([](LoopModel& l) { l.iterations = 2000, l.region_loss_us = 5; })},
      {"shared_counter", "atomics_contention",
       with([](LoopModel& l) { l.atomics = 0.5, l.efficiency = 0.3; })},
  };
}

std::string Describe(const std::vector<Metric>& metrics) {
  std::string text;
  for (const Diagnosis& diagnosis : Diagnose(CpuRules(), metrics))
    text += fmt::format("  {} {:.2f}\n", diagnosis.bottleneck, diagnosis.score);
  for (const RuleVerdict& verdict : Explain(CpuRules(), metrics))
    text += fmt::format("    {} {} {:.2f} {}\n", verdict.rule, NameOf(verdict.outcome),
                        verdict.explains, verdict.reason);
  return text;
}

bool Among(const std::vector<Diagnosis>& diagnoses, const std::string& cause) {
  return std::ranges::find(diagnoses, cause, &Diagnosis::bottleneck) != diagnoses.end();
}

class CpuScene : public testing::TestWithParam<Scene> {};

TEST_P(CpuScene, TheCauseComesFirst) {
  const std::vector<Metric> metrics = MetricsOf(GetParam().loop);
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty()) << Describe(metrics);
  EXPECT_EQ(diagnoses[0].bottleneck, GetParam().cause) << Describe(metrics);
}

void Set(std::vector<Metric>& metrics, const std::string& tag, double value) {
  std::ranges::find(metrics, tag, &Metric::tag)->value = value;
}

bool IsNamed(const std::vector<Metric>& metrics, const std::string& cause) {
  return Among(Diagnose(CpuRules(), metrics), cause);
}

LoopModel TwoThreads(double efficiency) {
  return {.instructions = 6,
          .vector_fp = 3,
          .multiplications = 3,
          .loads = 1,
          .stores = 0.1,
          .threads = 2,
          .efficiency = efficiency,
          .regions = 1};
}

// Other programs had the processors while the threads were counted.
TEST(CpuRules, AKernelThatScalesIsNotSerial) {
  std::vector<Metric> metrics = MetricsOf(TwoThreads(0.9));
  Set(metrics, "cpu_per_wall", 0.6);
  EXPECT_FALSE(IsNamed(metrics, "not_parallel")) << Describe(metrics);
  Set(metrics, "thread_scaling", 0.5);
  Set(metrics, "thread_imbalance", 2);
  EXPECT_TRUE(IsNamed(metrics, "not_parallel")) << Describe(metrics);
  Set(metrics, "thread_scaling", 0.05);
  EXPECT_FALSE(IsNamed(metrics, "not_parallel")) << Describe(metrics);
}

// The scheduler let all threads of a parallel kernel wait for their turn.
TEST(CpuRules, ADisturbedClockDoesNotSilenceTheOtherCauses) {
  LoopModel loop{.instructions = 5,
                 .vector_fp = 1,
                 .multiplications = 0,
                 .loads = 2,
                 .stores = 1,
                 .divisions = 1,
                 .division_cycles = 10,
                 .threads = 2,
                 .regions = 1};
  std::vector<Metric> metrics = MetricsOf(loop);
  Set(metrics, "thread_scaling", 0.02);
  Set(metrics, "cpu_per_wall", 1);
  EXPECT_TRUE(IsNamed(metrics, "div_sqrt")) << Describe(metrics);
}

TEST(CpuRules, AKernelThatScalesIsBalanced) {
  std::vector<Metric> metrics = MetricsOf(TwoThreads(0.95));
  Set(metrics, "thread_imbalance", 1.5);
  EXPECT_FALSE(IsNamed(metrics, "imbalance")) << Describe(metrics);
  Set(metrics, "thread_scaling", 0.66);
  EXPECT_TRUE(IsNamed(metrics, "imbalance")) << Describe(metrics);
}

TEST(CpuRules, ASerialPartIsNotAlsoCalledImbalance) {
  LoopModel loop = TwoThreads(1);
  loop.imbalance = 1.5;
  EXPECT_TRUE(IsNamed(MetricsOf(loop), "imbalance"));
  loop.serial_share = 0.5;
  EXPECT_FALSE(IsNamed(MetricsOf(loop), "imbalance"));
}

// One thread fills a temporary that is new in each call, and 63 others spin until it is done.
TEST(CpuRules, SpinningThreadsDoNotHidePageFaults) {
  const LoopModel loop{.iterations = 1e6,
                       .vector_fp = 1,
                       .loads = 1,
                       .stores = 1,
                       .l1_misses = 0.1,
                       .faults = 4096,
                       .threads = 64,
                       .imbalance = 64,
                       .regions = 1};
  std::vector<Metric> metrics = MetricsOf(loop);
  Set(metrics, "cpu_per_wall", 64);
  EXPECT_TRUE(IsNamed(metrics, "page_faults")) << Describe(metrics);
}

// Two threads, each of which does its whole work inside of one critical section.
TEST(CpuRules, ThreadsThatWorkInTurnAreNotParallel) {
  const LoopModel loop{
      .iterations = 1e6, .vector_fp = 1, .loads = 1, .threads = 2, .efficiency = 0.5, .regions = 1};
  std::vector<Metric> metrics = MetricsOf(loop);
  Set(metrics, "lock_calls", 40);
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty()) << Describe(metrics);
  EXPECT_EQ(diagnoses.front().bottleneck, "not_parallel") << Describe(metrics);
  EXPECT_FALSE(Among(diagnoses, "false_sharing")) << Describe(metrics);
}

// Each thread enters once, to add its result.
TEST(CpuRules, CombiningResultsIsNotWorkingInTurn) {
  const LoopModel loop{
      .iterations = 1e6, .vector_fp = 1, .loads = 1, .threads = 2, .efficiency = 0.5, .regions = 1};
  std::vector<Metric> metrics = MetricsOf(loop);
  Set(metrics, "lock_calls", 2);
  EXPECT_FALSE(IsNamed(metrics, "not_parallel")) << Describe(metrics);
  EXPECT_TRUE(IsNamed(metrics, "false_sharing")) << Describe(metrics);
}

// A short region that loses more than starting it can cost shares lines.
TEST(CpuRules, AShortRegionIsNotOverParallelIfItLosesMoreThanItCosts) {
  const LoopModel loop{
      .iterations = 1e6, .vector_fp = 1, .loads = 1, .threads = 2, .efficiency = 0.2, .regions = 1};
  std::vector<Metric> metrics = MetricsOf(loop);
  Set(metrics, "wall_1_ms", 0.08);
  Set(metrics, "wall_ms", 0.2);
  EXPECT_TRUE(IsNamed(metrics, "false_sharing")) << Describe(metrics);
  EXPECT_FALSE(IsNamed(metrics, "over_parallel")) << Describe(metrics);
}

// Floats to bytes, one at a time: the conversion has to be, and vectors would do several.
TEST(CpuRules, AConversionToAnotherSizeIsNotTheScalarLoopsCause) {
  const LoopModel loop{.instructions = 9,
                       .scalar_fp = 2,
                       .loads = 1,
                       .stores = 1,
                       .port_cycles = 3,
                       .conversions = 1};
  std::vector<Metric> metrics = MetricsOf(loop);
  Set(metrics, "load_bytes", 4 * loop.iterations);
  Set(metrics, "store_bytes", loop.iterations);
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty()) << Describe(metrics);
  EXPECT_EQ(diagnoses.front().bottleneck, "not_vectorised") << Describe(metrics);
}

// A stencil whose window overlaps its latest stores' offsets, and which waits for L3 anyway.
TEST(CpuRules, AnAliasThatCostsNothingIsNotNamed) {
  const LoopModel loop{
      .instructions = 6, .vector_fp = 3, .loads = 3, .stores = 1, .l1_misses = 2, .l2_misses = 2};
  std::vector<Metric> metrics = MetricsOf(loop);
  Set(metrics, "aliasing_4k", 0.5 * 3 * loop.iterations);
  EXPECT_FALSE(IsNamed(metrics, "aliasing_4k")) << Describe(metrics);
}

class CpuWork : public testing::TestWithParam<Scene> {};

// Serial code also wastes threads, but the cause of the time must still be reported.
TEST_P(CpuWork, OneThreadOfTwoStillShowsTheCause) {
  LoopModel loop = GetParam().loop;
  loop.threads = 2;
  loop.imbalance = 2;
  const std::vector<Metric> metrics = MetricsOf(loop);
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  EXPECT_TRUE(Among(diagnoses, GetParam().cause)) << Describe(metrics);
}

TEST_P(CpuWork, TwoBusyThreadsShowTheSameCauseFirst) {
  LoopModel loop = GetParam().loop;
  loop.threads = 2;
  loop.efficiency = 0.95;
  loop.regions = 1;
  const std::vector<Metric> metrics = MetricsOf(loop);
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty()) << Describe(metrics);
  EXPECT_EQ(diagnoses[0].bottleneck, GetParam().cause) << Describe(metrics);
}

std::string SceneName(const testing::TestParamInfo<Scene>& scene) { return scene.param.name; }
INSTANTIATE_TEST_SUITE_P(Work, CpuScene, testing::ValuesIn(WorkScenes()), SceneName);
INSTANTIATE_TEST_SUITE_P(Work, CpuWork, testing::ValuesIn(WorkScenes()), SceneName);
INSTANTIATE_TEST_SUITE_P(Threads, CpuScene, testing::ValuesIn(ThreadScenes()), SceneName);

// The metrics of kernels that were measured on one Zen 5 server with n = 256. Metrics that were not
// recorded (spills, line use) follow from the kernels' code.
TEST(MeasuredKernels, NaiveProductIsStrided) {
  const std::vector<Metric> metrics{{"time_ms", 12.027, "1", "measured"},
                                    {"wall_1_ms", 12.027, "1", "measured"},
                                    {"threads", 1, "1", "measured"},
                                    {"cycles", 49.0e6, "1", "estimated"},
                                    {"instructions", 93.1e6, "1", "exact count"},
                                    {"ipc", 1.9, "1", "estimated"},
                                    {"scalar_fp", 16.8e6, "1", "exact count"},
                                    {"vector_fp", 8.4e6, "1", "exact count"},
                                    {"vector_share", 0.5, "1", "exact count"},
                                    {"vector_bits", 64, "1", "exact count"},
                                    {"loads", 33e6, "1", "exact count"},
                                    {"stores", 65536, "1", "exact count"},
                                    {"shuffle_count", 8.4e6, "1", "exact count"},
                                    {"spill_traffic", 0, "1", "exact count"},
                                    {"l1_misses", 18.5e6, "1", "simulated"},
                                    {"l2_misses", 12000, "1", "simulated"},
                                    {"l3_misses", 0, "1", "simulated"},
                                    {"line_use", 0.1, "1", "simulated"},
                                    {"conflict_share", 0.9, "1", "simulated"},
                                    {"hot_loop_share", 0.95, "1", "sampled"},
                                    {"loop_cycles", 6.8, "1", "sampled"},
                                    {"mca_dependency_share", 0.86, "1", "static"},
                                    {"mca_resource_pressure", 0.2, "1", "static"},
                                    {"mca_throughput_cycles", 3, "1", "static"},
                                    {"measured_over_mca", 1.12, "1", "estimated"},
                                    {"roofline_share", 0.011, "1", "estimated"}};
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty());
  EXPECT_EQ(diagnoses[0].bottleneck, "strided_access") << Describe(metrics);
}

TEST(MeasuredKernels, BlockOnSixteenBytesLosesWhatItsSplitsCost) {
  const std::vector<Metric> metrics{{"time_ms", 0.602, "1", "measured"},
                                    {"wall_1_ms", 0.602, "1", "measured"},
                                    {"threads", 1, "1", "measured"},
                                    {"cycles", 2.45e6, "1", "estimated"},
                                    {"instructions", 4.84e6, "1", "exact count"},
                                    {"scalar_fp", 0, "1", "exact count"},
                                    {"vector_fp", 1.05e6, "1", "exact count"},
                                    {"vector_share", 1, "1", "exact count"},
                                    {"vector_bits", 512, "1", "exact count"},
                                    {"loads", 1.55e6, "1", "exact count"},
                                    {"stores", 1.08e6, "1", "exact count"},
                                    {"loads_per_fma", 1.48, "1", "exact count"},
                                    {"stores_per_fma", 1.03, "1", "exact count"},
                                    {"l1_intensity", 0.22, "1", "exact count"},
                                    {"shuffle_count", 0, "1", "exact count"},
                                    {"spill_traffic", 0, "1", "exact count"},
                                    {"l1_misses", 271110, "1", "simulated"},
                                    {"l2_misses", 12000, "1", "simulated"},
                                    {"l3_misses", 0, "1", "simulated"},
                                    {"line_use", 1, "1", "simulated"},
                                    {"conflict_share", 0.1, "1", "simulated"},
                                    {"line_splits", 2359296, "1", "simulated"},
                                    {"split_share", 0.89, "1", "simulated"},
                                    {"hot_loop_share", 0.95, "1", "sampled"},
                                    {"loop_cycles", 9.4, "1", "sampled"},
                                    {"mca_dependency_share", 0.2, "1", "static"},
                                    {"mca_resource_pressure", 0.7, "1", "static"},
                                    {"mca_throughput_cycles", 4.9, "1", "static"},
                                    {"measured_over_mca", 1.91, "1", "estimated"},
                                    {"roofline_share", 0.2, "1", "estimated"}};
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty());
  EXPECT_EQ(diagnoses[0].bottleneck, "l1_splits") << Describe(metrics);
  EXPECT_NEAR(diagnoses[0].predicted_speedup, 602.0 / 349, 0.2);
}

TEST(MeasuredKernels, AlignedBlockStoresTooOften) {
  const std::vector<Metric> metrics{{"time_ms", 0.333, "1", "measured"},
                                    {"wall_1_ms", 0.333, "1", "measured"},
                                    {"threads", 1, "1", "measured"},
                                    {"cycles", 1.36e6, "1", "estimated"},
                                    {"instructions", 4.84e6, "1", "exact count"},
                                    {"scalar_fp", 0, "1", "exact count"},
                                    {"vector_fp", 1.05e6, "1", "exact count"},
                                    {"vector_share", 1, "1", "exact count"},
                                    {"vector_bits", 512, "1", "exact count"},
                                    {"loads", 1.55e6, "1", "exact count"},
                                    {"stores", 1.08e6, "1", "exact count"},
                                    {"loads_per_fma", 1.48, "1", "exact count"},
                                    {"stores_per_fma", 1.03, "1", "exact count"},
                                    {"l1_intensity", 0.22, "1", "exact count"},
                                    {"shuffle_count", 0, "1", "exact count"},
                                    {"spill_traffic", 0, "1", "exact count"},
                                    {"l1_misses", 271110, "1", "simulated"},
                                    {"l2_misses", 12000, "1", "simulated"},
                                    {"l3_misses", 0, "1", "simulated"},
                                    {"line_use", 1, "1", "simulated"},
                                    {"conflict_share", 0.1, "1", "simulated"},
                                    {"line_splits", 0, "1", "simulated"},
                                    {"split_share", 0, "1", "simulated"},
                                    {"hot_loop_share", 0.95, "1", "sampled"},
                                    {"loop_cycles", 5.4, "1", "sampled"},
                                    {"mca_dependency_share", 0.2, "1", "static"},
                                    {"mca_resource_pressure", 0.7, "1", "static"},
                                    {"mca_throughput_cycles", 4.9, "1", "static"},
                                    {"measured_over_mca", 1.1, "1", "estimated"},
                                    {"roofline_share", 0.4, "1", "estimated"}};
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty());
  EXPECT_EQ(diagnoses[0].bottleneck, "store_bound") << Describe(metrics);
}

TEST(MeasuredKernels, SoftmaxWithScalarExpSpendsItsTimeInTheLibrary) {
  const std::vector<Metric> metrics{{"time_ms", 0.213, "1", "measured"},
                                    {"wall_1_ms", 0.213, "1", "measured"},
                                    {"threads", 1, "1", "measured"},
                                    {"cycles", 867000, "1", "estimated"},
                                    {"instructions", 1.08e6, "1", "exact count"},
                                    {"scalar_fp", 196000, "1", "exact count"},
                                    {"vector_fp", 4096, "1", "exact count"},
                                    {"vector_share", 0.25, "1", "exact count"},
                                    {"vector_bits", 40, "1", "exact count"},
                                    {"loads", 300000, "1", "exact count"},
                                    {"stores", 140000, "1", "exact count"},
                                    {"libm_calls", 65536, "1", "exact count"},
                                    {"libm_elements", 65536, "1", "exact count"},
                                    {"division_count", 4096, "1", "exact count"},
                                    {"spill_traffic", 0.05, "1", "exact count"},
                                    {"l1_misses", 12288, "1", "simulated"},
                                    {"l2_misses", 0, "1", "simulated"},
                                    {"l3_misses", 0, "1", "simulated"},
                                    {"line_use", 1, "1", "simulated"},
                                    {"roofline_share", 0.02, "1", "estimated"}};
  const std::vector<Diagnosis> diagnoses = Diagnose(CpuRules(), metrics);
  ASSERT_FALSE(diagnoses.empty());
  EXPECT_EQ(diagnoses[0].bottleneck, "libm_calls") << Describe(metrics);
  EXPECT_NEAR(diagnoses[0].predicted_speedup, 213.0 / 23, 2.5);
}

}  // namespace
}  // namespace pragma
