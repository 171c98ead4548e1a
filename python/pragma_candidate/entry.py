"""What start.py of this package and of pragma_triton do alike: their arguments, the log, the service."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any


def serve(program: str, find_work: Callable[[], Any]) -> int:
    """`find_work` imports and gives the Work's class; nothing is imported before the log is there."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("plan")
    parser.add_argument("solution")
    arguments = parser.parse_args()
    os.umask(0)
    from pragma_candidate.log import use_log

    use_log()
    work = find_work()
    from pragma_candidate.service import Service

    Service(lambda layout: work(layout, arguments.plan, arguments.solution), arguments.threads).serve()
    return 0
