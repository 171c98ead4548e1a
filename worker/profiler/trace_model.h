// Trace model: simulates caches, TLBs, store-to-load aliasing and branch prediction from a kernel's
// own accesses and branches. It runs in the kernel's thread while the kernel's vector registers are
// live, so it is compiled without vector registers (worker/CMakeLists.txt). There is one model per
// process, which belongs to the thread that created it. Accesses of the kernel's other threads are
// only counted.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum trace_kind {
  TRACE_LOAD = 0,
  TRACE_STORE = 1,
  TRACE_LOAD_AND_STORE = 2,
  TRACE_PREFETCH = 3,  // fills the caches, but does not count as an access
  TRACE_NT_STORE = 4   // non-temporal store: bypasses the caches and evicts its lines from them
};

// trace_site: one instruction that accesses memory. An instrumented kernel exports an array of
// these.
struct trace_site {
  uint16_t width;  // bytes, 64 at most
  uint8_t kind;    // enum trace_kind
  uint8_t unused;
  uint32_t source_line;
};

// trace_cache_shape: size of a cache with least-recently-used replacement that allocates on writes.
// No ways: this level does not exist.
struct trace_cache_shape {
  uint32_t sets;
  uint32_t ways;
};

struct trace_model_config {
  struct trace_cache_shape l1, l2, l3;  // data caches; a level sees the misses of the level before
                                        // it
  struct trace_cache_shape dtlb, dtlb2;
  uint32_t line_bytes;  // line size of all caches: a power of two, 64 at most
  uint32_t page_bytes;  // a power of two
  const struct trace_site* sites;
  uint32_t site_count;
  uint32_t branch_count;
  // Number of accesses after which `finish` is called, once. Nothing is counted after that. 0:
  // never.
  uint64_t access_budget;
  // Runs on the kernel's stack, in the middle of the kernel. It need not return.
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
  uint64_t accesses;  // an instruction that loads and stores counts as one
  uint64_t unseen;    // accesses by other threads, which no figure below includes
  uint64_t loads;
  uint64_t stores;
  uint64_t load_bytes;
  uint64_t store_bytes;
  uint64_t l1_misses;  // lines missed by loads and stores
  uint64_t l2_misses;
  uint64_t l3_misses;
  uint64_t streamed_misses;   // those of l1_misses whose distance from the instruction's previous
                              // miss equals the distance between the two misses before, and is
                              // within reach of a hardware prefetcher
  uint64_t prefetched_lines;  // lines that software prefetches brought into L1
  uint64_t prefetched_l2_lines;  // those of them that were not in L2
  uint64_t prefetched_l3_lines;  // those of them that were not in L3 either
  uint64_t nt_store_bytes;
  uint64_t line_splits;
  uint64_t page_splits;
  uint64_t dtlb_misses;
  uint64_t dtlb2_misses;
  // L1 misses that a fully associative cache of the same size would not have.
  uint64_t conflict_misses;
  // Number of lines that left L1 or are still in it, and the sum of their touched bytes.
  uint64_t used_lines;
  uint64_t used_bytes;
  uint64_t aliased_loads;  // loads that 4 KiB aliasing affects
  uint64_t branches;
  uint64_t branches_taken;
  uint64_t mispredictions;
  uint64_t closed;  // nonzero: the budget is used up
};

// Creates the model. Returns 0, or -1 when the shapes are not valid or there is not enough memory.
// It may be called again, which starts a new model.
int trace_model_init(const struct trace_model_config* config);

// The instrumented kernel calls these two functions.
void trace_model_access(uint64_t address, uint32_t site);
void trace_model_branch(uint32_t branch, int taken);

// Sets the counts to zero. Caches, TLBs and predictors keep their (warm) state.
void trace_model_reset_counts(void);

void trace_model_results(struct trace_model_totals* totals);
const struct trace_site_counts* trace_model_sites(void);       // array of site_count elements
const struct trace_branch_counts* trace_model_branches(void);  // array of branch_count elements

#ifdef __cplusplus
}
#endif
