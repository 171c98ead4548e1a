#include "build/work_metrics.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "build/instruction_mix.h"
#include "build/library_calls.h"
#include "core/profile.h"

namespace pragma {
namespace {

struct Calls {
  std::uint64_t math = 0;
  std::uint64_t elements = 0;
  std::uint64_t regions = 0;
  std::uint64_t barriers = 0;
  std::uint64_t dispatches = 0;
  std::uint64_t locks = 0;
  std::uint64_t singles = 0;
  std::uint64_t allocations = 0;
};

Calls SumCalls(const Work& work) {
  Calls calls;
  for (const auto& [name, times] : work.calls) {
    const LibraryCallFacts facts = LookUpCall(name);
    switch (facts.kind) {
      case LibraryCall::kMath:
        calls.math += times;
        calls.elements += times * facts.elements;
        break;
      case LibraryCall::kParallelRegion: calls.regions += times; break;
      case LibraryCall::kBarrier: calls.barriers += times; break;
      case LibraryCall::kDispatch: calls.dispatches += times; break;
      case LibraryCall::kLock: calls.locks += times; break;
      case LibraryCall::kSingle: calls.singles += times; break;
      case LibraryCall::kAllocation: calls.allocations += times; break;
      case LibraryCall::kOther: break;
    }
  }
  return calls;
}

class List {
 public:
  void Count(std::string tag, std::uint64_t value, std::string unit = "1") {
    Add(std::move(tag), static_cast<double>(value), std::move(unit));
  }
  // Adds a ratio, unless its denominator is zero.
  void Ratio(std::string tag, std::uint64_t part, std::uint64_t whole, std::string unit = "1") {
    if (whole == 0) return;
    Add(std::move(tag), static_cast<double>(part) / static_cast<double>(whole), std::move(unit));
  }
  std::vector<Metric> Take() { return std::move(metrics_); }

 private:
  void Add(std::string tag, double value, std::string unit) {
    metrics_.push_back({std::move(tag), value, std::move(unit), "exact count"});
  }
  std::vector<Metric> metrics_;
};

void AddArithmetic(const Mix& all, List& list) {
  list.Count("instructions", all.instructions);
  list.Count("flops", all.flops);
  list.Ratio("vector_share", all.vector_flops, all.flops);
  list.Ratio("vector_bits", all.fp_bits, all.scalar_fp + all.vector_fp, "bit");
  list.Ratio("fma_share", all.fma_flops, all.flops);
  list.Count("scalar_fp", all.scalar_fp);
  list.Count("vector_fp", all.vector_fp);
  list.Count("division_count", all.divisions);
  list.Count("scalar_division_count", all.scalar_divisions);
  list.Count("conversion_count", all.conversions);
  list.Count("shuffle_count", all.shuffles);
}

void AddMemory(const Work& work, List& list) {
  const Mix& all = work.all;
  list.Count("loads", all.loads);
  list.Count("stores", all.stores);
  list.Count("load_bytes", all.load_bytes, "B");
  list.Count("store_bytes", all.store_bytes, "B");
  list.Count("nt_stores", all.nt_stores);
  list.Ratio("loads_per_fma", all.loads, all.multiplying);
  list.Ratio("stores_per_fma", all.stores, all.multiplying);
  list.Count("gather_count", all.gathers);
  list.Ratio("spill_traffic", work.in_loops.stack_accesses, all.loads + all.stores);
  list.Count("atomic_count", all.locked);
  list.Count("string_bytes", all.string_bytes, "B");
  list.Ratio("l1_intensity", all.flops, all.load_bytes + all.store_bytes, "FLOP/B");
}

void AddCalls(const Work& work, List& list) {
  const Calls calls = SumCalls(work);
  list.Count("branches", work.all.branches);
  list.Count("calls", work.all.calls);
  list.Count("libm_calls", calls.math);
  list.Count("libm_elements", calls.elements);
  list.Count("parallel_regions", calls.regions);
  list.Count("barriers", calls.barriers);
  list.Count("dispatches", calls.dispatches);
  list.Count("lock_calls", calls.locks);
  list.Count("single_sections", calls.singles);
  list.Count("allocations", calls.allocations);
}

}  // namespace

std::vector<Metric> WorkMetrics(const Work& work) {
  List list;
  AddArithmetic(work.all, list);
  AddMemory(work, list);
  AddCalls(work, list);
  list.Count("hot_instructions", work.hot_instructions);
  return list.Take();
}

}  // namespace pragma
