#define _GNU_SOURCE
#include "worker/cuda/kept.h"

#include <string.h>
#include <sys/mman.h>

#include "worker/cuda/driver.h"
#include "worker/cuda/runtime.h"
#include "worker/protocol.h"

enum { kMostPlaces = 512 };

static struct {
  device_pointer address;
  size_t bytes;
} places[kMostPlaces];
static int place_count;

static void add(device_pointer address, size_t bytes) {
  if (place_count == kMostPlaces || bytes == 0) return;
  places[place_count].address = address;
  places[place_count++].bytes = bytes;
}

void cuda_kept_find(char* names, uint64_t scratch, size_t scratch_bytes) {
  char* rest = NULL;
  for (char* name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    device_pointer address = 0;
    size_t bytes = 0;
    if (cuda_runtime_find_variable(name, &address, &bytes)) add(address, bytes);
  }
  add(scratch, scratch_bytes);
}

static int copy_all(struct pragma_kept* kept, enum cuda_kept_direction direction) {
  char* at = (char*)(kept + 1);
  size_t room = PRAGMA_KEPT_BYTES;
  if (direction == kKeptWrite && kept->bytes < room) room = kept->bytes;
  uint64_t done = 0;
  int error = cuda->synchronize();
  for (int i = 0; i < place_count && error == 0; ++i) {
    const size_t bytes = places[i].bytes < room - done ? places[i].bytes : room - done;
    if (bytes == 0) break;
    error = direction == kKeptRead ? cuda->copy_out(at + done, places[i].address, bytes)
                                   : cuda->copy_in(places[i].address, at + done, bytes);
    done += bytes;
  }
  if (direction == kKeptRead) kept->bytes = done;
  return error != 0 ? error : cuda->synchronize();
}

int cuda_kept_copy(int fd, enum cuda_kept_direction direction) {
  const size_t size = sizeof(struct pragma_kept) + PRAGMA_KEPT_BYTES;
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return -1;
  const int error = copy_all(memory, direction);
  munmap(memory, size);
  return error;
}
