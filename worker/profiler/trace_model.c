#include "worker/profiler/trace_model.h"

#include <stddef.h>
#include <stdlib.h>

#include "worker/profiler/trace_cache.h"

enum { most_bytes = 64 };

// ---- The model

// Loads are compared with stores that may still be in flight. A store is compared for this many
// later stores at most (about a store buffer's size), and for this many later accesses (about what
// is in flight at a time).
enum { alias_stores = 48, alias_accesses = 128, alias_entries = 1024, alias_chunks = 64 };
// The branch predictor has a global history predictor, a two-bit counter for each branch, and a
// chooser between them.
enum { history_bits = 12, pattern_bits = 14 };

struct alias_entry {
  uint64_t page;
  uint64_t serial;  // serial number of the store
  uint64_t when;    // number of accesses before it
};

// stream: an instruction's misses as a hardware prefetcher sees them.
struct stream {
  uint64_t line;  // line of the latest miss
  int64_t step;   // distance from the miss before the latest one, in lines
};

static struct {
  struct trace_model_config config;
  uint32_t line_shift;
  uint32_t page_shift;
  struct set_cache l1, l2, l3;
  struct full_cache l1_full;  // what L1 would hold if it were fully associative
  struct set_cache dtlb, dtlb2;
  struct full_cache dtlb_full;  // first level of the data TLB, if it has only one set
  struct trace_model_totals totals;
  struct trace_site_counts* sites;
  struct stream* streams;  // one stream per site
  struct trace_branch_counts* branches;
  uint8_t* local;    // by branch: a two-bit counter, and the counter of the chooser above it
  uint8_t* pattern;  // two-bit counters by history and branch
  uint32_t history;
  uint64_t stores;  // serial number of the latest store
  uint64_t accesses;
  uint64_t chunk_serial[alias_chunks];      // by address bits 6..11
  struct alias_entry alias[alias_entries];  // by address bits 2..11
} model;

static unsigned count_bits(uint64_t bits) {
  bits -= bits >> 1U & UINT64_C(0x5555555555555555);
  bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2U & UINT64_C(0x3333333333333333));
  bits = (bits + (bits >> 4U)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56U);
}

// Like touch_set, and also records which bytes are used. A line that leaves is added to the totals.
static int touch_l1(uint64_t line, uint64_t bytes) {
  const struct set_cache* cache = &model.l1;
  uint64_t* tags = set_of(cache, line);
  uint64_t* touched = cache->touched + (tags - cache->tags);
  const uint64_t tag = line + 1;
  if (tags[0] == tag) {
    touched[0] |= bytes;
    return 1;
  }
  for (uint32_t way = 1; way < cache->ways; ++way) {
    if (tags[way] != tag) continue;
    const uint64_t seen = touched[way];
    to_front(tags, way, tag);
    to_front(touched, way, seen | bytes);
    return 1;
  }
  const uint32_t last = cache->ways - 1;
  if (tags[last] != 0 && touched[last] != 0) {
    ++model.totals.used_lines;
    model.totals.used_bytes += count_bits(touched[last]);
  }
  to_front(tags, last, tag);
  to_front(touched, last, bytes);
  return 0;
}

struct levels {
  int l1, l2, l3;  // nonzero: missed in that level
};

static struct levels touch_line(uint64_t line, uint64_t bytes) {
  struct levels missed = {0, 0, 0};
  if (touch_l1(line, bytes)) return missed;
  missed.l1 = 1;
  if (model.l2.ways != 0 && touch_set(&model.l2, line)) return missed;
  missed.l2 = 1;
  if (model.l3.ways != 0 && touch_set(&model.l3, line)) return missed;
  missed.l3 = 1;
  return missed;
}

// Returns the bits of `width` bytes from `offset` on within a line.
static uint64_t byte_mask(uint64_t offset, uint64_t width) {
  const uint64_t ones = width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
  return ones << offset;
}

// Largest stride that a prefetcher follows, in bytes. Intel's and AMD's manuals give 2 KiB.
enum { prefetch_reach = 2048 };

static void follow_stream(uint64_t line, struct stream* stream) {
  const int64_t step = (int64_t)(line - stream->line);
  const int64_t reach = prefetch_reach >> model.line_shift;
  if (step != 0 && step == stream->step && step <= reach && step >= -reach)
    ++model.totals.streamed_misses;
  stream->step = step;
  stream->line = line;
}

static void demand_line(uint64_t line, uint64_t bytes, struct trace_site_counts* site) {
  const int in_full = touch_full(&model.l1_full, line);
  const struct levels missed = touch_line(line, bytes);
  if (!missed.l1) return;
  ++model.totals.l1_misses;
  ++site->l1_misses;
  follow_stream(line, &model.streams[site - model.sites]);
  model.totals.conflict_misses += (uint64_t)in_full;
  model.totals.l2_misses += (uint64_t)missed.l2;
  site->l2_misses += (uint64_t)missed.l2;
  model.totals.l3_misses += (uint64_t)missed.l3;
}

static void prefetch_line(uint64_t line) {
  (void)touch_full(&model.l1_full, line);
  const struct levels missed = touch_line(line, 0);
  model.totals.prefetched_lines += (uint64_t)missed.l1;
  model.totals.prefetched_l2_lines += (uint64_t)missed.l2;
  model.totals.prefetched_l3_lines += (uint64_t)missed.l3;
}

static void bypass_line(uint64_t line) {
  drop(&model.l1, line);
  drop(&model.l2, line);
  drop(&model.l3, line);
}

static int touch_dtlb(uint64_t page) {
  return model.dtlb.ways != 0 ? touch_set(&model.dtlb, page) : touch_full(&model.dtlb_full, page);
}

static void translate(uint64_t page) {
  if (touch_dtlb(page)) return;
  ++model.totals.dtlb_misses;
  if (model.dtlb2.ways != 0 && touch_set(&model.dtlb2, page)) return;
  ++model.totals.dtlb2_misses;
}

// Returns whether a load partly overlaps one of the latest stores in bits 0..11 of the address, but
// not in the bits above.
static int is_aliased(uint64_t address, uint64_t width) {
  const uint64_t last = address + width - 1;
  if (model.chunk_serial[address >> 6U & 63U] + alias_stores <= model.stores &&
      model.chunk_serial[last >> 6U & 63U] + alias_stores <= model.stores)
    return 0;
  for (uint64_t word = address >> 2U; word <= last >> 2U; ++word) {
    const struct alias_entry* entry = &model.alias[word & (alias_entries - 1)];
    if (entry->serial != 0 && entry->serial + alias_stores > model.stores &&
        entry->when + alias_accesses > model.accesses && entry->page != word >> 10U)
      return 1;
  }
  return 0;
}

static void note_store(uint64_t address, uint64_t width) {
  const uint64_t last = address + width - 1;
  const uint64_t serial = ++model.stores;
  model.chunk_serial[address >> 6U & 63U] = serial;
  model.chunk_serial[last >> 6U & 63U] = serial;
  for (uint64_t word = address >> 2U; word <= last >> 2U; ++word) {
    struct alias_entry* entry = &model.alias[word & (alias_entries - 1)];
    entry->page = word >> 10U;
    entry->serial = serial;
    entry->when = model.accesses;
  }
}

static void count_access(const struct trace_site* site, uint64_t address) {
  struct trace_model_totals* totals = &model.totals;
  const int loads = site->kind == TRACE_LOAD || site->kind == TRACE_LOAD_AND_STORE;
  ++totals->accesses;
  ++model.accesses;
  if (loads) {
    ++totals->loads;
    totals->load_bytes += site->width;
    totals->aliased_loads += (uint64_t)is_aliased(address, site->width);
  }
  if (site->kind != TRACE_LOAD) {
    ++totals->stores;
    totals->store_bytes += site->width;
    if (site->kind == TRACE_NT_STORE) totals->nt_store_bytes += site->width;
    note_store(address, site->width);
  }
}

static void close_when_spent(void) {
  if (model.config.access_budget == 0 || model.totals.accesses < model.config.access_budget) return;
  model.totals.closed = 1;
  if (model.config.finish != NULL) model.config.finish();
}

// Set only in the thread that owns the model.
static _Thread_local int owner;

void trace_model_access(uint64_t address, uint32_t number) {
  if (!owner) {
    __atomic_fetch_add(&model.totals.unseen, 1, __ATOMIC_RELAXED);
    return;
  }
  if (model.totals.closed || number >= model.config.site_count) return;
  const struct trace_site* site = &model.config.sites[number];
  const uint64_t line = address >> model.line_shift;
  if (site->kind == TRACE_PREFETCH) {
    prefetch_line(line);
    return;
  }
  struct trace_site_counts* counts = &model.sites[number];
  const uint64_t last = address + site->width - 1;
  const uint64_t last_line = last >> model.line_shift;
  const uint64_t offset = address & (model.config.line_bytes - 1);
  ++counts->accesses;
  count_access(site, address);
  translate(address >> model.page_shift);
  if (last >> model.page_shift != address >> model.page_shift) {
    ++model.totals.page_splits;
    translate(last >> model.page_shift);
  }
  if (last_line != line) {
    ++model.totals.line_splits;
    ++counts->line_splits;
  }
  if (site->kind == TRACE_NT_STORE) {
    for (uint64_t at = line; at <= last_line; ++at) bypass_line(at);
  } else {
    uint64_t left = site->width;
    uint64_t from = offset;
    for (uint64_t at = line; at <= last_line; ++at, from = 0) {
      const uint64_t room = model.config.line_bytes - from;
      const uint64_t part = left < room ? left : room;
      demand_line(at, byte_mask(from, part), counts);
      left -= part;
    }
  }
  close_when_spent();
}

static uint8_t trained(uint8_t counter, int up) {
  if (up) return counter < 3 ? (uint8_t)(counter + 1) : counter;
  return counter > 0 ? (uint8_t)(counter - 1) : counter;
}

void trace_model_branch(uint32_t branch, int taken) {
  if (!owner || model.totals.closed || branch >= model.config.branch_count) return;
  const uint32_t hash = branch * UINT32_C(2654435761) >> (32 - pattern_bits);
  uint8_t* global = &model.pattern[(hash ^ model.history << (pattern_bits - history_bits)) &
                                   ((1U << pattern_bits) - 1)];
  uint8_t* own = &model.local[2 * branch];
  uint8_t* choice = &model.local[2 * branch + 1];
  const int up = taken != 0;
  const int global_right = (*global >= 2) == up;
  const int own_right = (*own >= 2) == up;
  struct trace_branch_counts* counts = &model.branches[branch];
  ++counts->executed;
  counts->taken += (uint64_t)up;
  const uint64_t wrong = *choice >= 2 ? !global_right : !own_right;
  counts->mispredicted += wrong;
  ++model.totals.branches;
  model.totals.branches_taken += (uint64_t)up;
  model.totals.mispredictions += wrong;
  if (global_right != own_right) *choice = trained(*choice, global_right);
  *global = trained(*global, up);
  *own = trained(*own, up);
  model.history = (model.history << 1U | (uint32_t)up) & ((1U << history_bits) - 1);
}

// ---- Set-up and results

static void clear_model(void) {
  free(model.l1.tags);
  free(model.l1.touched);
  free(model.l2.tags);
  free(model.l3.tags);
  free(model.dtlb.tags);
  free(model.dtlb2.tags);
  clear_full(&model.l1_full);
  clear_full(&model.dtlb_full);
  free(model.sites);
  free(model.streams);
  free(model.branches);
  free(model.local);
  free(model.pattern);
  char* bytes = (char*)&model;
  for (size_t i = 0; i < sizeof model; ++i) bytes[i] = 0;
}

static int shape_is_sound(struct trace_cache_shape shape) {
  const uint64_t most = UINT64_C(1) << 26U;
  return (uint64_t)shape.sets * shape.ways <= most;
}

static int config_is_sound(const struct trace_model_config* config) {
  const struct trace_cache_shape shapes[] = {config->l1, config->l2, config->l3, config->dtlb,
                                             config->dtlb2};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
    if (!shape_is_sound(shapes[i])) return 0;
  }
  for (uint32_t i = 0; i < config->site_count; ++i) {
    if (config->sites[i].width == 0 || config->sites[i].width > most_bytes) return 0;
  }
  return config->l1.sets != 0 && config->l1.ways != 0 && config->dtlb.sets != 0 &&
         config->dtlb.ways != 0 && is_power(config->line_bytes) &&
         config->line_bytes <= most_bytes && is_power(config->page_bytes) &&
         config->page_bytes >= config->line_bytes;
}

static int make_caches(const struct trace_model_config* config) {
  const uint32_t l1_lines = config->l1.sets * config->l1.ways;
  if (make_set(&model.l1, config->l1) || make_set(&model.l2, config->l2) ||
      make_set(&model.l3, config->l3) || make_set(&model.dtlb2, config->dtlb2) ||
      make_full(&model.l1_full, l1_lines))
    return -1;
  model.l1.touched = calloc(l1_lines, sizeof *model.l1.touched);
  if (model.l1.touched == NULL) return -1;
  // A set with many ways is slow to search, so it gets a hash table.
  return config->dtlb.sets == 1 ? make_full(&model.dtlb_full, config->dtlb.ways)
                                : make_set(&model.dtlb, config->dtlb);
}

static int make_counts(const struct trace_model_config* config) {
  model.sites = calloc((size_t)config->site_count + 1, sizeof *model.sites);
  model.streams = calloc((size_t)config->site_count + 1, sizeof *model.streams);
  model.branches = calloc((size_t)config->branch_count + 1, sizeof *model.branches);
  model.local = calloc(2 * ((size_t)config->branch_count + 1), 1);
  model.pattern = calloc((size_t)1 << pattern_bits, 1);
  if (!model.sites || !model.streams || !model.branches || !model.local || !model.pattern)
    return -1;
  // Counters begin as weakly taken, because most branches close a loop.
  for (size_t i = 0; i < (size_t)1 << pattern_bits; ++i) model.pattern[i] = 2;
  for (size_t i = 0; i < 2 * (size_t)config->branch_count; ++i) model.local[i] = 2;
  return 0;
}

int trace_model_init(const struct trace_model_config* config) {
  clear_model();
  if (!config_is_sound(config)) return -1;
  if (make_caches(config) || make_counts(config)) {
    clear_model();
    return -1;
  }
  model.config = *config;
  model.line_shift = log2_of(config->line_bytes);
  model.page_shift = log2_of(config->page_bytes);
  owner = 1;
  return 0;
}

void trace_model_reset_counts(void) {
  const struct trace_model_totals none = {0};
  const struct trace_site_counts no_site = {0};
  const struct trace_branch_counts no_branch = {0};
  model.totals = none;
  for (uint32_t i = 0; i < model.config.site_count; ++i) model.sites[i] = no_site;
  for (uint32_t i = 0; i < model.config.branch_count; ++i) model.branches[i] = no_branch;
}

void trace_model_results(struct trace_model_totals* totals) {
  *totals = model.totals;
  const size_t lines = (size_t)model.l1.sets * model.l1.ways;
  for (size_t i = 0; i < lines; ++i) {
    if (model.l1.tags[i] == 0 || model.l1.touched[i] == 0) continue;
    ++totals->used_lines;
    totals->used_bytes += count_bits(model.l1.touched[i]);
  }
}

const struct trace_site_counts* trace_model_sites(void) { return model.sites; }

const struct trace_branch_counts* trace_model_branches(void) { return model.branches; }
