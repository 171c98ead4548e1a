/* The control page shared between pragma and one measured process (a jailed worker, or a timing
 * child of pragma_torch), called the other process below. docs/worker-protocol.md has the full
 * description.
 *
 * pragma writes a command, increments `doorbell` and wakes it (shared futex, not private). The
 * other process runs the command, writes `result`, sets `done` to the doorbell value it served,
 * and wakes `done`. Neither process spins. pragma trusts nothing on this page except that `done`
 * changed. The page is plain C with fixed offsets, because pragma_torch/control.py reads the
 * same page with struct. */
#ifndef PRAGMA_WORKER_PROTOCOL_H_
#define PRAGMA_WORKER_PROTOCOL_H_

#include <stddef.h>
#include <stdint.h>

#define PRAGMA_CONTROL_MAGIC 0x414d4750u /* "PGMA" */
#define PRAGMA_CONTROL_VERSION 1u
#define PRAGMA_MAX_SETS 64
#define PRAGMA_MAX_THREADS 512
#define PRAGMA_MAX_POINTERS 1024 /* arguments and outputs together */

enum pragma_command {
  PRAGMA_LOAD = 1,    /* worker: map, filter, dlopen; timing child: build the modules */
  PRAGMA_RUN = 2,     /* call the kernel once for each sets[0..count-1], in that order */
  PRAGMA_EMPTY = 3,   /* the same loop without the calls, which measures the doorbell's own cost */
  PRAGMA_PREPARE = 4, /* worker: call pragma_prepare for each sets[i], into packed area i */
  PRAGMA_EXIT = 5,
  PRAGMA_WAKE = 6,    /* on a device, never timed: pragma's own work is launched and waited for, so
                         that the device has switched to this process before a call is timed */
  PRAGMA_START = 7,   /* CUDA worker: create the device's context and memory, before there is a
                         candidate */
  PRAGMA_RELEASE = 8, /* timing child on a device: release the freed blocks that PyTorch
                         keeps */
  PRAGMA_KEPT_READ = 9,   /* CUDA worker: copy its device's kept memory into the kept area */
  PRAGMA_KEPT_WRITE = 10, /* CUDA worker: copy in the other direction */
  /* A RUN with `repeat` makes calls as a user makes them (docs/measuring.md), in Python processes
   * only: so many for its only set. It drops each result at once, and keeps what the last call
   * returned until the next RUN, EMPTY or DELIVER. */
  PRAGMA_DELIVER = 11, /* candidate: copy what was kept into the outputs of sets[0]; timing child:
                          drop it */
};

enum pragma_result {
  PRAGMA_OK = 0,
  PRAGMA_LOAD_FAILED = 1, /* dlopen or dlsym failed; message says why */
  PRAGMA_BAD_COMMAND = 2,
  PRAGMA_RAISED = 3,     /* Python: an exception was raised; message says which */
  PRAGMA_WRONG_FORM = 4, /* Python candidate: an output is not a plain tensor of the right form */
  PRAGMA_REFUSED = 5,    /* Triton: device code that is not allowed; message says which part */
};

/* The comments give offsets in bytes, as the static assertions in task/doorbell.cc check them. */
struct pragma_control {
  uint32_t magic;              /*   0 */
  uint32_t version;            /*   4 */
  uint32_t command;            /*   8 */
  uint32_t count;              /*  12 */
  uint32_t result;             /*  16 */
  uint32_t input_guard_count;  /*  20: part of the layout, see below */
  uint32_t output_guard_count; /*  24 */
  uint32_t fp_mode;  /*  28: worker: nonzero once a call left the floating-point mode changed */
  uint32_t has_dims; /*  32: the first argument holds the sizes that vary; prepare takes it too */
  /*  36: a seed. A RUN with a seed other than 0 writes random bytes, before each call, into all
   *  memory in which an earlier call may have left data: vector, mask and tile registers, the
   *  dead stack, freed blocks, and on a device shared and local memory. */
  uint32_t scramble;
  uint32_t seal_data;      /*  40: worker: nonzero if none of the object's writable data is the
                               author's */
  uint32_t openmp_changed; /*  44: worker: nonzero once a call left OpenMP's settings changed */
  uint32_t repeat;         /*  48: calls of such a RUN; 0: it is an ordinary one */
  uint32_t reserved[3];    /*  52 */
  uint32_t doorbell;       /*  64: from pragma to the other process */
  uint32_t pad1[15];
  uint32_t done; /* 128: from the other process to pragma */
  uint32_t pad2[15];
  uint32_t sets[PRAGMA_MAX_SETS]; /* 192 */
  char message[480];              /* 448: NUL-terminated text for the log */
  /* Set after loading, by workers only: the address range of the object's writable data, the size
   * of its thread-local data in each thread (see thread_data). Size 0: there are none. */
  uint64_t data_address; /* 928 */
  uint64_t data_bytes;
  uint64_t thread_bytes;
  uint64_t reserved_word;
  /* Layout, written once before the start. For workers only (pragma_torch gets it as JSON). */
  uint32_t set_count; /* 960 */
  uint32_t argument_count;
  uint32_t output_count;
  uint32_t parameter_count; /* how many of the last arguments pragma_prepare takes */
  uint64_t input_bytes;     /* size of the input memory (fd 4, mapped read-only) */
  uint64_t output_bytes;    /* size of the output memory (fd 5), guard pages included */
  uint64_t scratch_bytes;   /* size of the scratch memory (fd 6); 0: there is none */
  uint64_t packed_bytes;    /* bytes of one set; 0: the kernel takes no packed pointer */
  uint64_t packed_offset;   /* offset of the first packed area in the scratch memory; stride
                               packed_stride */
  uint64_t packed_stride;
  /* Where the thread-local data of each OpenMP thread lie, the main thread first; 0: no thread. */
  uint64_t thread_data[PRAGMA_MAX_THREADS]; /* 1024 */
};

/* The offsets follow the page: set_count * (argument_count + output_count) of them. The offsets
 * of set s begin at s * (argument_count + output_count): its arguments in the input memory, then
 * its outputs in the output memory. Then follow the offsets of the guard pages: those in the
 * input memory, then those in the output memory. */
/* The kept area of a CUDA worker, which is a separate memory (fd 6): this head, then the bytes. */
#define PRAGMA_KEPT_BYTES ((size_t)64 << 20) /* at most; memory beyond it is left unchanged */
struct pragma_kept {
  uint64_t bytes; /* number of bytes that follow: READ writes it, WRITE copies as many */
  uint64_t pad[7];
};

static inline uint64_t* pragma_offsets(struct pragma_control* control) {
  return (uint64_t*)(control + 1);
}

#endif
