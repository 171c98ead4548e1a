// Trace model: caches, TLBs, store-to-load aliasing and branch prediction, fed with a kernel's own
// accesses and branches. It runs in the kernel's thread with the kernel's vector registers alive:
// it is compiled without any (worker/CMakeLists.txt). One model in a process, of the thread that
// made it: what a kernel's own threads do is only counted.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum trace_kind {
  TRACE_LOAD = 0,
  TRACE_STORE = 1,
  TRACE_LOAD_AND_STORE = 2,
  TRACE_PREFETCH = 3,  // fills the caches, is counted as no access
  TRACE_NT_STORE = 4   // goes past the caches and takes its lines out of them
};

// One instruction that accesses memory; an instrumented kernel exports an array of these.
struct trace_site {
  uint16_t width;  // bytes, 64 at most
  uint8_t kind;    // enum trace_kind
  uint8_t unused;
  uint32_t source_line;
};

// Least recently used is replaced, writes allocate. No ways: this level does not exist.
struct trace_cache_shape {
  uint32_t sets;
  uint32_t ways;
};

struct trace_model_config {
  struct trace_cache_shape l1, l2, l3;  // of data; a level sees what the one before it missed
  struct trace_cache_shape dtlb, dtlb2;
  uint32_t line_bytes;  // of all caches: a power of two, 64 at most
  uint32_t page_bytes;  // a power of two
  const struct trace_site* sites;
  uint32_t site_count;
  uint32_t branch_count;
  // Accesses after which `finish` is called, once; then nothing is counted any more. 0: never.
  uint64_t access_budget;
  // Runs on the kernel's stack, in the middle of the kernel; need not return.
  void (*finish)(void);
};

struct trace_site_counts {
  uint64_t accesses;
  uint64_t l1_misses;  // lines
  uint64_t l2_misses;
  uint64_t line_splits;
};

struct trace_branch_counts {
  uint64_t executed;
  uint64_t taken;
  uint64_t mispredicted;
};

struct trace_model_totals {
  uint64_t accesses;  // an instruction that loads and stores is one
  uint64_t unseen;    // by other threads, in none of the figures below
  uint64_t loads;
  uint64_t stores;
  uint64_t load_bytes;
  uint64_t store_bytes;
  uint64_t l1_misses;  // lines, of loads and stores
  uint64_t l2_misses;
  uint64_t l3_misses;
  uint64_t streamed_misses;  // of l1_misses: as far from the instruction's miss before as that from
                             // the one before it, and within reach of a hardware prefetcher
  uint64_t prefetched_lines;     // that software prefetches brought into L1
  uint64_t prefetched_l2_lines;  // of them, not in L2
  uint64_t prefetched_l3_lines;  // nor in L3
  uint64_t nt_store_bytes;
  uint64_t line_splits;
  uint64_t page_splits;
  uint64_t dtlb_misses;
  uint64_t dtlb2_misses;
  // L1 misses that a fully associative cache of that size would not have.
  uint64_t conflict_misses;
  // Of lines that left L1 and of those in it: their number, and the sum of their touched bytes.
  uint64_t used_lines;
  uint64_t used_bytes;
  uint64_t aliased_loads;  // 4 KiB aliasing
  uint64_t branches;
  uint64_t branches_taken;
  uint64_t mispredictions;
  uint64_t closed;  // the budget is used up
};

// 0, or -1 when the shapes make no sense or memory is short. May be called again: starts afresh.
int trace_model_init(const struct trace_model_config* config);

// What the instrumented kernel calls.
void trace_model_access(uint64_t address, uint32_t site);
void trace_model_branch(uint32_t branch, int taken);

// Forgets what was counted; caches, TLBs and predictors stay as they are, and warm.
void trace_model_reset_counts(void);

void trace_model_results(struct trace_model_totals* totals);
const struct trace_site_counts* trace_model_sites(void);       // site_count of them
const struct trace_branch_counts* trace_model_branches(void);  // branch_count of them

#ifdef __cplusplus
}
#endif
