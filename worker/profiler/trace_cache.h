// Caches of the trace model. They record which lines are present, not their contents.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "worker/profiler/trace_model.h"

// set_cache: a set-associative cache. The tags of each set are in order of their last use, the
// latest first.

struct set_cache {
  uint64_t sets;
  uint64_t mask;  // sets - 1 if `sets` is a power of two, else 0
  uint32_t ways;
  uint64_t* tags;     // line + 1; 0: empty
  uint64_t* touched;  // bytes of the line that were used, one bit each; only in L1
};

static inline uint64_t* set_of(const struct set_cache* cache, uint64_t line) {
  const uint64_t set =
      cache->mask != 0 || cache->sets == 1 ? line & cache->mask : line % cache->sets;
  return cache->tags + set * cache->ways;
}

// Puts `tag` at the front of a set and shifts the tags before `way` by one. `tag` is the tag that
// was at `way`, or a new one that replaces it.
static inline void to_front(uint64_t* tags, uint32_t way, uint64_t tag) {
  for (; way > 0; --way) tags[way] = tags[way - 1];
  tags[0] = tag;
}

static inline int touch_set(const struct set_cache* cache, uint64_t line) {
  uint64_t* tags = set_of(cache, line);
  const uint64_t tag = line + 1;
  if (tags[0] == tag) return 1;
  for (uint32_t way = 1; way < cache->ways; ++way) {
    if (tags[way] != tag) continue;
    to_front(tags, way, tag);
    return 1;
  }
  to_front(tags, cache->ways - 1, tag);
  return 0;
}

static inline void drop(const struct set_cache* cache, uint64_t line) {
  if (cache->ways == 0) return;
  uint64_t* tags = set_of(cache, line);
  for (uint32_t way = 0; way < cache->ways; ++way) {
    if (tags[way] != line + 1) continue;
    for (; way + 1 < cache->ways; ++way) tags[way] = tags[way + 1];
    tags[way] = 0;
  }
}

// full_cache: a fully associative cache. It has a hash table of its lines, and a list in order of
// their last use. The work per access does not depend on the cache's size, which may be many
// hundred lines.

struct full_cache {
  uint32_t capacity;
  uint32_t used;
  uint32_t slots;  // size of the table, a power of two
  uint32_t shift;
  uint32_t head;  // node of the latest line; nodes are 1 .. capacity, 0 means none
  uint32_t tail;
  uint64_t* line;  // line of each node
  uint32_t* previous;
  uint32_t* next;
  uint32_t* chain;  // next node with the same slot
  uint32_t* slot;   // first node of each slot
};

static inline uint32_t slot_of(const struct full_cache* cache, uint64_t line) {
  return (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> cache->shift);
}

static inline void unlink_node(struct full_cache* cache, uint32_t node) {
  const uint32_t before = cache->previous[node];
  const uint32_t after = cache->next[node];
  if (before != 0) {
    cache->next[before] = after;
  } else {
    cache->head = after;
  }
  if (after != 0) {
    cache->previous[after] = before;
  } else {
    cache->tail = before;
  }
}

static inline void push_front(struct full_cache* cache, uint32_t node) {
  cache->previous[node] = 0;
  cache->next[node] = cache->head;
  if (cache->head != 0) {
    cache->previous[cache->head] = node;
  } else {
    cache->tail = node;
  }
  cache->head = node;
}

static inline void forget_slot(struct full_cache* cache, uint32_t node) {
  uint32_t* at = &cache->slot[slot_of(cache, cache->line[node])];
  while (*at != node) at = &cache->chain[*at];
  *at = cache->chain[node];
}

static inline uint32_t free_node(struct full_cache* cache) {
  if (cache->used < cache->capacity) return ++cache->used;
  const uint32_t node = cache->tail;
  unlink_node(cache, node);
  forget_slot(cache, node);
  return node;
}

static inline int touch_full(struct full_cache* cache, uint64_t line) {
  if (cache->head != 0 && cache->line[cache->head] == line) return 1;
  const uint32_t slot = slot_of(cache, line);
  uint32_t node = cache->slot[slot];
  while (node != 0 && cache->line[node] != line) node = cache->chain[node];
  if (node != 0) {
    unlink_node(cache, node);
    push_front(cache, node);
    return 1;
  }
  node = free_node(cache);
  cache->line[node] = line;
  cache->chain[node] = cache->slot[slot];
  cache->slot[slot] = node;
  push_front(cache, node);
  return 0;
}

// ---- Set-up

static inline int is_power(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

static inline uint32_t log2_of(uint64_t power) {
  uint32_t bits = 0;
  while (power > 1) {
    power >>= 1U;
    ++bits;
  }
  return bits;
}

static inline int make_set(struct set_cache* cache, struct trace_cache_shape shape) {
  cache->sets = shape.sets;
  cache->ways = shape.sets == 0 ? 0 : shape.ways;
  cache->mask = is_power(cache->sets) ? cache->sets - 1 : 0;
  if (cache->ways == 0) return 0;
  cache->tags = calloc(cache->sets * cache->ways, sizeof *cache->tags);
  return cache->tags == NULL ? -1 : 0;
}

static inline int make_full(struct full_cache* cache, uint32_t capacity) {
  const size_t nodes = (size_t)capacity + 1;
  cache->capacity = capacity;
  cache->slots = 4;
  while (cache->slots < 2 * nodes) cache->slots *= 2;
  cache->shift = 64 - log2_of(cache->slots);
  cache->line = calloc(nodes, sizeof *cache->line);
  cache->previous = calloc(nodes, sizeof *cache->previous);
  cache->next = calloc(nodes, sizeof *cache->next);
  cache->chain = calloc(nodes, sizeof *cache->chain);
  cache->slot = calloc(cache->slots, sizeof *cache->slot);
  return cache->line && cache->previous && cache->next && cache->chain && cache->slot ? 0 : -1;
}

static inline void clear_full(struct full_cache* cache) {
  free(cache->line);
  free(cache->previous);
  free(cache->next);
  free(cache->chain);
  free(cache->slot);
}
