"""`python -m pragma_model`: communicates on descriptor 3. stdout and stderr are only logs."""

from __future__ import annotations

import argparse
import os
import sys

from pragma_torch.channel import Channel, control_socket
from pragma_torch.process import limit_files


def main() -> int:
    parser = argparse.ArgumentParser(prog="pragma_model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="on which the model is measured")
    arguments = parser.parse_args()
    os.umask(0)  # a later jail may run as another user; only it and pragma see these files
    limit_files(compiling=True)
    channel = Channel(control_socket())
    from pragma_model.server import Server

    Server(channel, arguments.threads, arguments.device).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
