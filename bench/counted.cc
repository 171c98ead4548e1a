// Prints what the profiler's instrumented builds report on one kernel, for
// bench/counts_against_callgrind.py:
//   pragma-counted KERNEL.s COMPILER [sets,ways ...]
// It runs pragma_kernel(x, out, scratch) of an assembly text with counters. Then it runs the kernel
// traced, with the given shapes of L1, L2 and L3 (twice; the second run counts). It prints one JSON
// object.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "build/assembly.h"
#include "build/block_counters.h"
#include "build/instruction_mix.h"
#include "build/trace_calls.h"
#include "build/work_metrics.h"
#include "worker/profiler/trace_model.h"

namespace pragma {
namespace {

using Kernel = void (*)(const float*, float*, void*);

// The memory layout of that script's driver. Where lines fall in the caches depends on it.
constexpr std::size_t kArena = std::size_t{64} << 20U;
constexpr std::size_t kOutAt = std::size_t{16} << 20U;
constexpr std::size_t kScratchAt = std::size_t{32} << 20U;

struct Arena {
  float* x;
  float* out;
  void* scratch;
};

Arena MakeArena() {
  auto* bytes = static_cast<char*>(std::aligned_alloc(std::size_t{2} << 20U, kArena));
  auto* x = reinterpret_cast<float*>(bytes);
  for (std::size_t i = 0; i < kOutAt / sizeof(float); ++i) {
    x[i] = static_cast<float>(i % 17) * 0.25F - 2;
  }
  return {x, reinterpret_cast<float*>(bytes + kOutAt), bytes + kScratchAt};
}

Result<void*> Load(const std::string& compiler, const std::string& text,
                   const std::filesystem::path& stem) {
  const std::string source = stem.string() + ".s";
  const std::string object = stem.string() + ".so";
  TRY(WriteFileAtomic(source, text));
  const auto run = TRY(RunProcess(
      {.argv = {compiler, "-shared", source, "-o", object, "-lmvec", "-lm"}, .inherit_env = true},
      {}));
  if (!run.status.ok()) return Fail(compiler + " refused the instrumented assembly: " + run.err);
  void* handle = dlopen(object.c_str(), RTLD_NOW);
  if (handle == nullptr) return Fail("cannot load the instrumented kernel: " + object);
  return handle;
}

template <class T>
T* Symbol(void* handle, const char* name) {
  return static_cast<T*>(dlsym(handle, name));
}

Result<Work> Count(const Assembly& assembly, const std::string& compiler,
                   const std::filesystem::path& folder, const Arena& arena) {
  void* handle = TRY(Load(compiler, InsertBlockCounters(assembly), folder / "counted"));
  auto kernel = reinterpret_cast<Kernel>(dlsym(handle, "pragma_kernel"));
  if (kernel == nullptr) return Fail("the assembly has no pragma_kernel");
  kernel(arena.x, arena.out, arena.scratch);
  return TotalMix(assembly, std::span(Symbol<std::uint64_t>(handle, kBlockCountsSymbol),
                                      assembly.blocks.size()));
}

Result<trace_model_totals> Trace(const Assembly& assembly, const std::string& compiler,
                                 const std::filesystem::path& folder, const Arena& arena,
                                 trace_model_config config) {
  const TraceProgram program = InsertTraceCalls(assembly);
  void* handle = TRY(Load(compiler, program.text, folder / "traced"));
  auto kernel = reinterpret_cast<Kernel>(dlsym(handle, "pragma_kernel"));
  config.sites = Symbol<trace_site>(handle, kTraceSitesSymbol);
  config.site_count = static_cast<std::uint32_t>(program.sites.size());
  config.branch_count = static_cast<std::uint32_t>(program.branches.size());
  if (trace_model_init(&config) != 0) return Fail("the cache shapes make no sense");
  *Symbol<void (*)(std::uint64_t, std::uint32_t)>(handle, kTraceAccessSymbol) = trace_model_access;
  *Symbol<void (*)(std::uint32_t, int)>(handle, kTraceBranchSymbol) = trace_model_branch;
  kernel(arena.x, arena.out, arena.scratch);
  trace_model_reset_counts();
  kernel(arena.x, arena.out, arena.scratch);
  trace_model_totals totals;
  trace_model_results(&totals);
  return totals;
}

std::string ToJson(const Work& work, const trace_model_totals& totals) {
  std::string json = "{";
  for (const Metric& metric : WorkMetrics(work)) {
    json += fmt::format("\"{}\": {}, ", metric.tag, metric.value);
  }
  const std::pair<const char*, std::uint64_t> traced[] = {
      {"accesses", totals.accesses},
      {"l1_misses", totals.l1_misses},
      {"l2_misses", totals.l2_misses},
      {"l3_misses", totals.l3_misses},
      {"line_splits", totals.line_splits},
      {"dtlb_misses", totals.dtlb_misses},
      {"dtlb2_misses", totals.dtlb2_misses},
      {"conflict_misses", totals.conflict_misses},
      {"used_lines", totals.used_lines},
      {"used_bytes", totals.used_bytes},
      {"aliased_loads", totals.aliased_loads},
      {"traced_branches", totals.branches},
      {"mispredictions", totals.mispredictions}};
  for (const auto& [name, value] : traced) json += fmt::format("\"{}\": {}, ", name, value);
  json.resize(json.size() - 2);
  return json + "}\n";
}

trace_cache_shape Shape(std::span<char*> arguments, std::size_t index) {
  trace_cache_shape shape{};
  if (index < arguments.size()) {
    char* end = nullptr;
    shape.sets = static_cast<std::uint32_t>(std::strtoul(arguments[index], &end, 10));
    if (*end == ',') shape.ways = static_cast<std::uint32_t>(std::strtoul(end + 1, nullptr, 10));
  }
  return shape;
}

Result<std::string> Report(std::span<char*> arguments) {
  const Assembly assembly = ParseAssembly(TRY(ReadFile(arguments[1])));
  const TempDir folder = TRY(TempDir::Create());
  const Arena arena = MakeArena();
  trace_model_config config{};
  config.l1 = Shape(arguments, 3);
  config.l2 = Shape(arguments, 4);
  config.l3 = Shape(arguments, 5);
  config.dtlb = {1, 96};
  config.dtlb2 = {256, 16};
  config.line_bytes = 64;
  config.page_bytes = 4096;
  const Work work = TRY(Count(assembly, arguments[2], folder.path(), arena));
  const auto totals = TRY(Trace(assembly, arguments[2], folder.path(), arena, config));
  return ToJson(work, totals);
}

}  // namespace
}  // namespace pragma

int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  if (arguments.size() < 4 || !pragma::CanInstrument()) {
    std::fputs("usage: pragma-counted KERNEL.s COMPILER L1SETS,WAYS [L2 [L3]]; x86-64 only\n",
               stderr);
    return 2;
  }
  const auto report = pragma::Report(arguments);
  if (!report) {
    std::fprintf(stderr, "pragma-counted: %s\n", report.error().message.c_str());
    return 3;
  }
  std::fputs(report->c_str(), stdout);
  return 0;
}
