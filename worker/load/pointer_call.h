/* Calls a function with a list of pointers whose length is known only at run time. The function
 * is a candidate's kernel, which takes one pointer per tensor of its task. */
#ifndef PRAGMA_WORKER_POINTER_CALL_H_
#define PRAGMA_WORKER_POINTER_CALL_H_

#include <stddef.h>

/* Returns how many pointers a list of `count` must hold to be passed. The additional pointers
 * are null. */
size_t pointer_call_padded(size_t count);
/* Calls the function. `count` is the padded count. */
void pointer_call(void (*function)(void), void** pointers, size_t count);

#endif
