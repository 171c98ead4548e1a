"""`python -m pragma_torch serve`: communicates on descriptor 3. stdout and stderr are only logs."""

from __future__ import annotations

import argparse
import os
import sys

from pragma_torch.channel import Channel, control_socket
from pragma_torch.process import imports, limit_files


def main() -> int:
    parser = argparse.ArgumentParser(prog="pragma_torch")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser(
        "serve", help="describe a task, compute references, fork timing children"
    )
    serve.add_argument("--threads", type=int, default=1)
    serve.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="of timing children")
    serve.add_argument(
        "--timers", choices=["none", "eager", "compile"], default="compile",
        help="the timing children that are expected: their imports are made ahead of them",
    )
    arguments = parser.parse_args()
    os.umask(0)  # a later jail may run as another user; only it and pragma see these files

    # This is set before torch imports numpy, whose own thread pool would be a second thread in the zygote.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    limit_files(compiling=False)
    channel = Channel(control_socket())
    return _serve(channel, arguments)


def _serve(channel: Channel, arguments: argparse.Namespace) -> int:
    from pragma_torch.zygote import Zygote

    zygote = Zygote(channel, arguments.device, arguments.timers)  # before torch is imported: the zygote imports its own
    # The OpenMP library reads this once, when torch loads it. The server's threads must not keep spinning into a timed
    # burst. The timing children keep the library's default, like the candidates.
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    # References are computed without torch.compile, whatever a task's code says. The task is timed as it is.
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    with imports():
        from pragma_torch.server import Server

    Server(channel, zygote, arguments.threads, arguments.device).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
