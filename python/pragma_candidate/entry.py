"""Parses the arguments of start.py, sets up the log, and serves one ModelNew on the ring's descriptors."""

from __future__ import annotations

import argparse
import os


def serve() -> int:
    parser = argparse.ArgumentParser(prog="pragma_candidate")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--allocator", choices=["default", "keep"])
    parser.add_argument("plan")
    parser.add_argument("solution")
    arguments = parser.parse_args()
    os.umask(0)
    from pragma_candidate.log import use_log

    use_log()  # before the import of anything that might print
    from pragma_torch.process import free_a_large_block, imports, keep_freed_memory

    with imports():
        from pragma_candidate.late_filter import LateFilter
        from pragma_candidate.ring import Layout
        from pragma_candidate.runner import Solution
        from pragma_candidate.service import (
            CONTROL_FD,
            INPUT_FD,
            KEEP_FD,
            LATE_FD,
            OUTPUT_FD,
            SCRATCH_FD,
            Service,
        )

    if arguments.allocator == "keep":
        keep_freed_memory()
    elif arguments.allocator == "default":
        free_a_large_block()
    work = Solution(Layout(CONTROL_FD), arguments.plan, arguments.solution)
    for fd in (INPUT_FD, OUTPUT_FD, SCRATCH_FD):  # already mapped
        os.close(fd)
    Service(CONTROL_FD, work, LateFilter(LATE_FD), arguments.threads, KEEP_FD).serve()
    return 0
