// perf_events: one group of counters for the calling process and every thread that it starts later.
// Open it before the first parallel region, because threads that already run are not counted, and
// before a system-call filter, because starting, stopping and reading need only ioctl and read.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PE_MAX_EVENTS = 16 };

// pe_set: one group of counters. It is plain data: pe_open fills it, pe_close empties it, and no
// memory is allocated.
struct pe_set {
  int count;                 // number of requested events
  int opened;                // number of open events
  int fd[PE_MAX_EVENTS];     // descriptor of each event; -1: not open
  int error[PE_MAX_EVENTS];  // errno of opening each event; 0: open
};

struct pe_value {
  uint64_t value;    // raw count; multiply it by enabled / running
  uint64_t enabled;  // ns
  uint64_t running;  // ns; smaller than enabled if the counter was shared with other events
  int error;         // errno of opening or reading; all other fields are then 0
};

// Opens the events of `list`. They are separated by spaces or commas, and each is
// TYPE:CONFIG[:CONFIG1] with numbers as in C ("4:0x1a0", "1:1"). The first one that opens leads the
// group. Returns how many opened, or -1 if the list cannot be parsed (no event is open then).
// Counting has not begun.
int pe_open(struct pe_set* set, const char* list);
// pe_start sets all counters to zero and starts them. pe_stop stops them. Both return 0, or the
// errno.
int pe_start(const struct pe_set* set);
int pe_stop(const struct pe_set* set);
// Reads the counters. `values` must have room for set->count elements.
void pe_read(const struct pe_set* set, struct pe_value* values);
void pe_close(struct pe_set* set);
// Writes one line per event, "VALUE ENABLED RUNNING ERRNO
// ", and a final NUL. Returns the length, or 0 when the text does not fit. 64 bytes per event and
// one more are always enough.
size_t pe_format(const struct pe_value* values, int count, char* text, size_t size);

#ifdef __cplusplus
}
#endif
