/* Calls a function with a list of pointers whose length is known only now: a candidate's kernel,
 * which takes as many as its task has tensors. */
#ifndef PRAGMA_WORKER_POINTER_CALL_H_
#define PRAGMA_WORKER_POINTER_CALL_H_

#include <stddef.h>

/* How many pointers a list of `count` must hold to be passed; null behind the last. */
size_t pointer_call_padded(size_t count);
/* `count`: as padded. */
void pointer_call(void (*function)(void), void** pointers, size_t count);

#endif
