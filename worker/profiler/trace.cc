// The mode that simulates caches, TLBs and branches of one call, in the state in which a ring of
// sets leaves them.
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "worker/profiler/host.h"
#include "worker/profiler/trace_model.h"

namespace profiler {
namespace {

Host* host_of_finish = nullptr;
bool warm = false;

trace_cache_shape Shape(const Host& host, const std::string& level) {
  return {static_cast<std::uint32_t>(host.Option((level + "_sets").c_str(), 0)),
          static_cast<std::uint32_t>(host.Option((level + "_ways").c_str(), 0))};
}

void Print(FILE* out, const char* name, std::uint64_t value) {
  std::fprintf(out, "%s %llu\n", name, static_cast<unsigned long long>(value));
}

void PrintTotals(FILE* out) {
  trace_model_totals totals{};
  trace_model_results(&totals);
  Print(out, "accesses", totals.accesses);
  Print(out, "unseen", totals.unseen);
  Print(out, "l1_misses", totals.l1_misses);
  Print(out, "l2_misses", totals.l2_misses);
  Print(out, "streamed_misses", totals.streamed_misses);
  Print(out, "l3_misses", totals.l3_misses);
  Print(out, "prefetched_lines", totals.prefetched_lines);
  Print(out, "prefetched_l2_lines", totals.prefetched_l2_lines);
  Print(out, "prefetched_l3_lines", totals.prefetched_l3_lines);
  Print(out, "nt_store_bytes", totals.nt_store_bytes);
  Print(out, "line_splits", totals.line_splits);
  Print(out, "page_splits", totals.page_splits);
  Print(out, "dtlb_misses", totals.dtlb_misses);
  Print(out, "dtlb2_misses", totals.dtlb2_misses);
  Print(out, "conflict_misses", totals.conflict_misses);
  Print(out, "used_lines", totals.used_lines);
  Print(out, "used_bytes", totals.used_bytes);
  Print(out, "aliased_loads", totals.aliased_loads);
  Print(out, "branches", totals.branches);
  Print(out, "mispredictions", totals.mispredictions);
  Print(out, "closed", totals.closed);
  Print(out, "warm", warm ? 1 : 0);
}

void PrintSites(FILE* out, std::uint64_t sites, std::uint64_t branches) {
  const trace_site_counts* counts = trace_model_sites();
  for (std::uint64_t i = 0; i < sites; ++i) {
    if (counts[i].accesses == 0) continue;
    std::fprintf(out, "site %llu %llu %llu %llu\n", static_cast<unsigned long long>(i),
                 static_cast<unsigned long long>(counts[i].accesses),
                 static_cast<unsigned long long>(counts[i].l1_misses),
                 static_cast<unsigned long long>(counts[i].line_splits));
  }
  const trace_branch_counts* taken = trace_model_branches();
  for (std::uint64_t i = 0; i < branches; ++i) {
    if (taken[i].mispredicted == 0) continue;
    std::fprintf(out, "branch %llu %llu\n", static_cast<unsigned long long>(i),
                 static_cast<unsigned long long>(taken[i].mispredicted));
  }
}

[[noreturn]] void Report() {
  Host& host = *host_of_finish;
  PrintTotals(host.result());
  PrintSites(host.result(), *host.Symbol<std::uint64_t>("pragma_trace_site_count"),
             *host.Symbol<std::uint64_t>("pragma_trace_branch_count"));
  host.Finish();
}

// Reports when the budget ends a call in its middle, on the kernel's stack.
void OnBudget() { Report(); }

// Touches every line of a set once, in order.
void TouchSet(const Host& host, std::uint32_t set, std::uint32_t site, std::uint32_t line) {
  const kernel_memory& memory = host.memory();
  const pragma_control& control = *memory.control;
  const std::uint32_t tensors = control.argument_count + control.output_count;
  for (std::uint32_t i = 0; i < tensors; ++i) {
    const auto first =
        reinterpret_cast<std::uint64_t>(memory.pointers[set * memory.pointer_count + i]);
    const auto bytes =
        static_cast<std::uint64_t>(host.Option(("bytes" + std::to_string(i)).c_str(), 0));
    for (std::uint64_t at = 0; at < bytes; at += line) trace_model_access(first + at, site);
  }
}

// Puts the caches into the state after one pass through the ring: the set that comes next was
// touched longest ago.
void TouchRing(const Host& host, std::uint32_t site, std::uint32_t line) {
  const std::uint32_t sets = host.memory().control->set_count;
  for (std::uint32_t i = 0; i < sets; ++i) TouchSet(host, (host.next_set() + i) % sets, site, line);
}

}  // namespace

void Trace(Host& host) {
  host_of_finish = &host;
  const std::uint64_t count = *host.Symbol<std::uint64_t>("pragma_trace_site_count");
  const auto* table = host.Symbol<trace_site>("pragma_trace_sites");
  std::vector<trace_site> sites(table, table + count);
  sites.push_back({.width = 1, .kind = TRACE_LOAD, .unused = 0, .source_line = 0});
  const auto line = static_cast<std::uint32_t>(host.Option("line", 64));
  trace_model_config config{};
  config.l1 = Shape(host, "l1");
  config.l2 = Shape(host, "l2");
  config.l3 = Shape(host, "l3");
  config.dtlb = Shape(host, "dtlb");
  config.dtlb2 = Shape(host, "dtlb2");
  config.line_bytes = line;
  config.page_bytes = 4096;
  config.sites = sites.data();
  config.site_count = static_cast<std::uint32_t>(sites.size());
  config.branch_count =
      static_cast<std::uint32_t>(*host.Symbol<std::uint64_t>("pragma_trace_branch_count"));
  config.access_budget = static_cast<std::uint64_t>(host.Option("budget", 0));
  config.finish = OnBudget;
  if (trace_model_init(&config) != 0) _exit(9);
  *host.Symbol<void (*)(std::uint64_t, std::uint32_t)>("pragma_trace_access") = trace_model_access;
  *host.Symbol<void (*)(std::uint32_t, int)>("pragma_trace_branch") = trace_model_branch;
  if (host.Option("warm", 1) > 0) {
    host.Call();
    TouchRing(host, static_cast<std::uint32_t>(count), line);
    warm = true;
    trace_model_reset_counts();
  }
  host.Call();
  Report();
}

}  // namespace profiler
