/* Code that the programs which load a candidate share: its initializers, and the doorbell. */
#ifndef PRAGMA_WORKER_CANDIDATE_H_
#define PRAGMA_WORKER_CANDIDATE_H_

#include "worker/protocol.h"

/* Calls the candidate's initializers, which the builder hid from the loader, so that nothing of
 * a candidate runs before the last filter is installed. `handle` comes from dlopen. */
void candidate_construct(void* handle);

/* Leaves a text for pragma's log. */
void candidate_say(struct pragma_control* control, const char* text);

/* Serves the doorbell: calls `serve` for each command and answers with its result (enum
 * pragma_result), until it is told to exit. */
void candidate_serve(struct pragma_control* control, int (*serve)(void* state), void* state)
    __attribute__((noreturn));

#endif
