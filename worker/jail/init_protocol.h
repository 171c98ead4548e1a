/* Messages that pragma-init reports to pragma on its report socket (SOCK_SEQPACKET, one struct
 * per message).
 *
 *   program  -> pragma  HELLO   sent by the child that is about to become the program, so that the
 *                               kernel's SCM_CREDENTIALS carry its process id, translated
 *   pragma   -> program one byte: "I hold a pidfd on you, go on"
 *   init     -> pragma  RUNNING the program has been exec'ed, or FAILED (stage and errno)
 *   init     -> pragma  DIED    wait status and resource use; init ends right after
 *
 * The program itself never has the socket, which is closed at exec. */
#ifndef PRAGMA_WORKER_INIT_PROTOCOL_H_
#define PRAGMA_WORKER_INIT_PROTOCOL_H_

#include <stdint.h>
#include <sys/resource.h>

#define PRAGMA_INIT_REPORT_FD 3
/* Descriptors for the program have this number or a higher one when they arrive. --fd says which
 * number each one gets. */
#define PRAGMA_INIT_FIRST_FD 10

enum pragma_init_kind {
  PRAGMA_INIT_HELLO = 1,
  PRAGMA_INIT_RUNNING = 2,
  PRAGMA_INIT_FAILED = 3,
  PRAGMA_INIT_DIED = 4,
};

enum pragma_init_stage {
  PRAGMA_STAGE_NONE = 0,
  PRAGMA_STAGE_DESCRIPTORS = 1,
  PRAGMA_STAGE_USER = 2,
  PRAGMA_STAGE_FOLDER = 3,
  PRAGMA_STAGE_LIMITS = 4,
  PRAGMA_STAGE_EXEC = 5,
  PRAGMA_STAGE_FILES = 6,
  PRAGMA_STAGE_CALLS = 7,
};

struct pragma_init_report {
  uint32_t kind;
  uint32_t stage;      /* FAILED: the step that failed */
  int32_t error;       /* FAILED: errno */
  int32_t status;      /* DIED: wait status as returned by wait(2) */
  struct rusage usage; /* DIED: usage of the program and of the children it waited for */
};

#endif
