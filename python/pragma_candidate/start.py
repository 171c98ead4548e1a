"""python -I start.py --threads N PLAN SOLUTION: serves the control page on descriptor 3."""

from __future__ import annotations

import argparse
import os
import sys

# With -I neither PYTHONPATH nor this folder counts; the packages lie beside each other.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main() -> int:
    parser = argparse.ArgumentParser(prog="pragma_candidate")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("plan")
    parser.add_argument("solution")
    arguments = parser.parse_args()
    os.umask(0)
    from pragma_candidate.log import use_log

    use_log()
    from pragma_candidate.runner import Solution
    from pragma_candidate.service import Service

    Service(
        lambda layout: Solution(layout, arguments.plan, arguments.solution), arguments.threads
    ).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
