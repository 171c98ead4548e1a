/* The CUDA driver, opened by name at run time, so that no program of pragma is linked with CUDA.
 * Types and numbers are those of cuda.h, a stable interface. */
#ifndef PRAGMA_WORKER_CUDA_DRIVER_H_
#define PRAGMA_WORKER_CUDA_DRIVER_H_

#include <stddef.h>
#include <stdint.h>

typedef uint64_t device_pointer;

struct launch_config {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

struct memory_location {
  int type;
  int id;
};

struct memory_access {
  struct memory_location location;
  int flags;
};

/* Functions of the driver. All of them return a CUresult, 0 for success. */
struct cuda_driver {
  int (*init)(unsigned);
  int (*retain_context)(void**, int);
  int (*set_context)(void*);
  int (*synchronize)(void);
  int (*create_stream)(void**, unsigned);
  int (*device_attribute)(int*, int, int);
  int (*error_string)(int, const char**);
  int (*allocate)(device_pointer*, size_t);
  int (*fill)(device_pointer, unsigned char, size_t, void*);
  int (*copy)(device_pointer, device_pointer, size_t, void*);
  int (*copy_in)(device_pointer, const void*, size_t);
  int (*copy_out)(void*, device_pointer, size_t);
  int (*import)(uint64_t*, void*, int);
  int (*reserve)(device_pointer*, size_t, size_t, device_pointer, uint64_t);
  int (*map)(device_pointer, size_t, size_t, uint64_t, uint64_t);
  int (*release)(uint64_t);
  int (*set_access)(device_pointer, size_t, const struct memory_access*, size_t);
  int (*load_module)(void**, const void*);
  int (*find_function)(void**, void*, const char*);
  int (*find_global)(device_pointer*, size_t*, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*launch_with)(const struct launch_config*, void*, void**, void**);
  int (*launch_cooperative)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, void*, void**);
  int (*set_function_attribute)(void*, int, int);
  int (*function_attribute)(int*, int, void*);
  int (*occupancy)(int*, void*, int, size_t, unsigned);
};

/* Filled by cuda_driver_open, and read-only afterwards, because a candidate shares this address
 * space. */
extern const struct cuda_driver* cuda;

/* Opens the driver and makes the first device's context current in this thread. Returns 0, or -1
 * with the reason in `why`. */
int cuda_driver_open(char* why, size_t size);
/* Returns the driver's own text for an error. */
const char* cuda_driver_says(int error);

#endif
