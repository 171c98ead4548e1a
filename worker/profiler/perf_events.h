// perf_events: one group of counters of the calling process and of every thread it starts later.
// Open before the first parallel region (threads that already run are not counted) and before a
// system-call filter (starting, stopping and reading need only ioctl and read).
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PE_MAX_EVENTS = 16 };

// One group. Plain data: pe_open fills it, pe_close empties it; no memory is allocated.
struct pe_set {
  int count;                 // events that were asked for
  int opened;                // of them open
  int fd[PE_MAX_EVENTS];     // -1: not open
  int error[PE_MAX_EVENTS];  // errno of opening; 0: open
};

struct pe_value {
  uint64_t value;    // as counted; scale it by enabled / running
  uint64_t enabled;  // ns
  uint64_t running;  // ns; smaller than enabled: the counter was shared with others
  int error;         // errno of opening or reading; the rest is 0 then
};

// `list`: events parted by spaces or commas, each TYPE:CONFIG[:CONFIG1], numbers as C writes them
// ("4:0x1a0", "1:1"). The first that opens leads the group. Returns how many opened, or -1 for a
// list that cannot be read (nothing is open then). Counting has not begun.
int pe_open(struct pe_set* set, const char* list);
// Sets all to zero and begins; stops. 0, or the errno.
int pe_start(const struct pe_set* set);
int pe_stop(const struct pe_set* set);
// `values` has room for set->count.
void pe_read(const struct pe_set* set, struct pe_value* values);
void pe_close(struct pe_set* set);
// Writes one line for each event, "VALUE ENABLED RUNNING ERRNO\n", ended by a NUL; returns the
// length, or 0 when it does not fit (64 bytes an event and one more always do).
size_t pe_format(const struct pe_value* values, int count, char* text, size_t size);

#ifdef __cplusplus
}
#endif
