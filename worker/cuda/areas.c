#define _GNU_SOURCE
#include "worker/cuda/areas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/cuda/driver.h"
#include "worker/load/pointer_call.h"

enum { kAreas = 2, kPosixDescriptor = 1, kOnDevice = 1, kRead = 1, kReadWrite = 3 };
enum { kScratchPattern = 0x5a, kMappedAtOnce = 2 << 20 };

struct pragma_control* cuda_areas_open_control(int fd) {
  void* page = mmap(NULL, sizeof(struct pragma_control), PROT_READ, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return NULL;
  const struct pragma_control* header = page;
  const size_t words = (size_t)header->set_count * (header->argument_count + header->output_count);
  const size_t bytes = sizeof(struct pragma_control) + words * sizeof(uint64_t);
  munmap(page, sizeof(struct pragma_control));
  page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (page == MAP_FAILED) return NULL;
  struct pragma_control* control = page;
  return control->magic == PRAGMA_CONTROL_MAGIC ? control : NULL;
}

/* Takes the descriptors out of a message, which may also carry other data (the sender's
 * credentials). */
static int take_descriptors(struct msghdr* message, int* fds, int count) {
  for (struct cmsghdr* header = CMSG_FIRSTHDR(message); header != NULL;
       header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN((size_t)count * sizeof(int))) {
      continue;
    }
    memcpy(fds, CMSG_DATA(header), (size_t)count * sizeof(int));
    return 1;
  }
  return 0;
}

int cuda_areas_receive(int end, int* fds, int count, char* line, size_t size) {
  int received = 0;
  size_t length = 0;
  char text[1 << 14];
  for (;;) {
    union {
      char bytes[256];
      struct cmsghdr align;
    } ancillary;
    struct iovec part = {text, sizeof(text)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.bytes,
                             .msg_controllen = sizeof(ancillary.bytes)};
    const ssize_t got = recvmsg(end, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0) return -1;
    received |= take_descriptors(&message, fds, count);
    const char* newline = memchr(text, '\n', (size_t)got);
    size_t more = newline != NULL ? (size_t)(newline - text) : (size_t)got;
    if (more > size - 1 - length) more = size - 1 - length;
    memcpy(line + length, text, more);
    length += more;
    line[length] = '\0';
    if (newline != NULL) return received ? 0 : -1;
  }
}

static int map(int fd, uint64_t bytes, int flags, device_pointer* address) {
  uint64_t handle = 0;
  const struct memory_access access = {{kOnDevice, 0}, flags};
  int error = cuda->import(&handle, (void*)(intptr_t)fd, kPosixDescriptor);
  if (error == 0) error = cuda->reserve(address, bytes, 0, 0, 0);
  if (error == 0) error = cuda->map(*address, bytes, 0, handle, 0);
  if (error == 0) error = cuda->release(handle); /* the mapping keeps the memory alive */
  if (error == 0) error = cuda->set_access(*address, bytes, &access, 1);
  close(fd);
  return error;
}

/* Allocates scratch memory. Its size is rounded up to what the device maps at once, so that no
 * other memory is mapped directly behind it. */
static int make_scratch(struct cuda_areas* areas, uint64_t bytes) {
  if (bytes == 0) return 0;
  areas->scratch_bytes = (bytes + kMappedAtOnce - 1) / kMappedAtOnce * kMappedAtOnce;
  const int error = cuda->allocate(&areas->scratch, areas->scratch_bytes);
  return error != 0 ? error
                    : cuda->fill(areas->scratch, kScratchPattern, areas->scratch_bytes, NULL);
}

static void* at(device_pointer base, uint64_t offset) { return (void*)(uintptr_t)(base + offset); }

static int list_pointers(struct cuda_areas* areas, const struct pragma_control* control,
                         void* stream) {
  const size_t listed = (size_t)control->argument_count + control->output_count;
  areas->pointer_count = pointer_call_padded(listed + 2);
  areas->pointers = calloc((size_t)control->set_count * areas->pointer_count, sizeof(void*));
  if (areas->pointers == NULL) return -1;
  const uint64_t* offset = (const uint64_t*)(control + 1);
  for (uint32_t set = 0; set < control->set_count; ++set) {
    void** p = areas->pointers + set * areas->pointer_count;
    for (uint32_t i = 0; i < control->argument_count; ++i) *p++ = at(areas->inputs, *offset++);
    for (uint32_t i = 0; i < control->output_count; ++i) *p++ = at(areas->outputs, *offset++);
    *p++ = at(areas->scratch, 0);
    *p = stream;
  }
  return 0;
}

int cuda_areas_map(struct cuda_areas* areas, const struct pragma_control* control, int end,
                   char* why, size_t size) {
  int fds[kAreas];
  char line[2]; /* for Python; the control page holds the same data */
  if (cuda_areas_receive(end, fds, kAreas, line, sizeof(line)) != 0) {
    snprintf(why, size, "no memory was handed over");
    return -1;
  }
  close(end);
  int error = map(fds[0], control->input_bytes, kRead, &areas->inputs);
  if (error == 0) error = map(fds[1], control->output_bytes, kReadWrite, &areas->outputs);
  if (error == 0) return 0;
  snprintf(why, size, "the device's memory cannot be mapped: %s", cuda_driver_says(error));
  return -1;
}

int cuda_areas_lay_out(struct cuda_areas* areas, const struct pragma_control* control, void* stream,
                       char* why, size_t size) {
  const int error = make_scratch(areas, control->scratch_bytes);
  if (error != 0) {
    snprintf(why, size, "no room for its scratch memory: %s", cuda_driver_says(error));
    return -1;
  }
  if (list_pointers(areas, control, stream) == 0) return 0;
  snprintf(why, size, "out of memory");
  return -1;
}
