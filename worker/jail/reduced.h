/* What replaces namespaces in the reduced jail: Landlock decides which files a program may open,
 * and a seccomp filter refuses calls that would reach other processes, the network or the kernel's
 * large interfaces. Both need no rights beyond those of an ordinary process. */
#ifndef PRAGMA_WORKER_REDUCED_H_
#define PRAGMA_WORKER_REDUCED_H_

struct allowed_path {
  const char* path;
  int writable; /* of a folder: files in it may be made and removed too */
};

/* Restricts this process, and all that it starts, to these paths. Devices may always be written.
 * `version` is the version of Landlock that the kernel has, at least 1. Returns false, with errno,
 * if that fails. */
int restrict_files(int version, const struct allowed_path* paths, int count);

/* Refuses calls with EPERM or ENOSYS, for this process and all that it starts. Returns false if
 * that fails. */
int restrict_calls(void);

#endif
