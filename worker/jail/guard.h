/* The guard: a process between pragma and one jail, which ends everything below it when pragma
 * has died.
 *
 * bwrap's own --die-with-parent is not enough. bwrap's child asks for the death signal only
 * after it was set up, so a pragma that is killed in that moment leaves the jail behind (seen in
 * half of the kills during a start). The guard is a subreaper: a process that loses its parent
 * becomes the guard's child, and is killed. */
#ifndef PRAGMA_WORKER_GUARD_H_
#define PRAGMA_WORKER_GUARD_H_

/* Starts the command in `words` and returns the guard's exit code once no process is left below
 * it. `words` holds "--remove FOLDER" for each control group and "--clear FOLDER" for each folder
 * of files to be removed at the end, and then the command. */
int guard(char** words);

/* Kills the children of this process once. Returns how many there were. */
int kill_children_once(void);

#endif
