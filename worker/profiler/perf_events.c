#define _GNU_SOURCE
#include "worker/profiler/perf_events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct event {
  uint32_t type;
  uint64_t config;
  uint64_t config1;
};

// Reads a number at *at and moves *at behind it. Returns 0 if there is none.
static int number(const char** at, uint64_t* value) {
  if (**at < '0' || **at > '9') return 0;
  char* end = NULL;
  errno = 0;
  *value = strtoull(*at, &end, 0);
  if (errno != 0 || end == *at) return 0;
  *at = end;
  return 1;
}

static int read_event(const char** at, struct event* event) {
  uint64_t type = 0;
  if (!number(at, &type) || type > UINT32_MAX || *(*at)++ != ':') return 0;
  event->type = (uint32_t)type;
  event->config1 = 0;
  if (!number(at, &event->config)) return 0;
  if (**at == ':') {
    ++*at;
    if (!number(at, &event->config1)) return 0;
  }
  return **at == '\0' || strchr(" ,\n", **at) != NULL;
}

// Parses the list. Returns the number of events, or -1.
static int read_list(const char* at, struct event* events) {
  int count = 0;
  for (;;) {
    at += strspn(at, " ,\n");
    if (*at == '\0') return count;
    if (count == PE_MAX_EVENTS || !read_event(&at, &events[count])) return -1;
    ++count;
  }
}

static int open_event(const struct event* event, int leader) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = event->type;
  attr.config = event->config;
  attr.config1 = event->config1;
  attr.disabled = leader < 0;
  attr.inherit = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  // Each event is read by itself, because kernels before 4.13 refuse to read inherited events as a
  // group.
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

int pe_open(struct pe_set* set, const char* list) {
  struct event events[PE_MAX_EVENTS];
  memset(set, 0, sizeof(*set));
  const int count = read_list(list, events);
  if (count < 0) return -1;
  int leader = -1;
  for (int i = 0; i < count; ++i) {
    set->fd[i] = open_event(&events[i], leader);
    set->error[i] = set->fd[i] < 0 ? errno : 0;
    if (set->fd[i] < 0) continue;
    ++set->opened;
    if (leader < 0) leader = set->fd[i];
  }
  set->count = count;
  return set->opened;
}

static int control(const struct pe_set* set, unsigned long request) {
  for (int i = 0; i < set->count; ++i) {
    if (set->fd[i] < 0) continue;
    return ioctl(set->fd[i], request, PERF_IOC_FLAG_GROUP) == 0 ? 0 : errno;
  }
  return 0;
}

int pe_start(const struct pe_set* set) {
  const int failed = control(set, PERF_EVENT_IOC_RESET);
  return failed != 0 ? failed : control(set, PERF_EVENT_IOC_ENABLE);
}

int pe_stop(const struct pe_set* set) { return control(set, PERF_EVENT_IOC_DISABLE); }

static void read_event_value(int fd, struct pe_value* value) {
  uint64_t words[3];
  ssize_t got = 0;
  do {
    got = read(fd, words, sizeof(words));
  } while (got < 0 && errno == EINTR);
  if (got != (ssize_t)sizeof(words)) {
    // End of file means that the group never fitted the counters (an event is in error state).
    value->error = got < 0 ? errno : EBUSY;
    return;
  }
  value->value = words[0];
  value->enabled = words[1];
  value->running = words[2];
}

void pe_read(const struct pe_set* set, struct pe_value* values) {
  for (int i = 0; i < set->count; ++i) {
    memset(&values[i], 0, sizeof(values[i]));
    values[i].error = set->error[i];
    if (set->fd[i] >= 0) read_event_value(set->fd[i], &values[i]);
  }
}

void pe_close(struct pe_set* set) {
  for (int i = set->count - 1; i >= 0; --i) {  // closes the leader last
    if (set->fd[i] >= 0) close(set->fd[i]);
  }
  memset(set, 0, sizeof(*set));
}

size_t pe_format(const struct pe_value* values, int count, char* text, size_t size) {
  size_t used = 0;
  if (size == 0) return 0;
  text[0] = '\0';
  for (int i = 0; i < count; ++i) {
    const int length =
        snprintf(text + used, size - used, "%llu %llu %llu %d\n",
                 (unsigned long long)values[i].value, (unsigned long long)values[i].enabled,
                 (unsigned long long)values[i].running, values[i].error);
    if (length < 0 || (size_t)length >= size - used) return 0;
    used += (size_t)length;
  }
  return used;
}
