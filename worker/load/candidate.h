/* What the programs that load a candidate share: its initializers, and the doorbell. */
#ifndef PRAGMA_WORKER_CANDIDATE_H_
#define PRAGMA_WORKER_CANDIDATE_H_

#include "worker/protocol.h"

/* The candidate's initializers, which the builder hid from the loader: nothing of a candidate runs
 * before the last filter is there. `handle`: of dlopen. */
void candidate_construct(void* handle);

/* Text for pragma's log. */
void candidate_say(struct pragma_control* control, const char* text);

/* Answers the doorbell with what `serve` returns (enum pragma_result), until told to exit. */
void candidate_serve(struct pragma_control* control, int (*serve)(void* state), void* state)
    __attribute__((noreturn));

#endif
