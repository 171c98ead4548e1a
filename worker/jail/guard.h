/* The guard: stands between pragma and one jail, and ends everything below it when pragma is gone.
 *
 * bwrap's own --die-with-parent is not enough: its child asks for the death signal only after it
 * was set up, so a pragma killed in that moment leaves the jail behind (seen in half of the kills
 * during a start). The guard is a subreaper: whatever loses its parent becomes its child, and is
 * killed. */
#ifndef PRAGMA_WORKER_GUARD_H_
#define PRAGMA_WORKER_GUARD_H_

/* `words`: "--remove FOLDER" for each control group to be removed at the end, then the command.
 * Starts it and returns the exit code of the guard once no process is left below it. */
int guard(char** words);

/* Kills the children of this process once; returns how many there were. */
int kill_children_once(void);

#endif
