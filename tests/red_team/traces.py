"""What a hostile candidate could leave behind on the machine, taken before and after."""

from __future__ import annotations

import os
import pathlib
import re
import socket
import time
from dataclasses import dataclass

# What the exploits would make if they could.
NAMES_OF_EXPLOITS = {"answers", "fill", "evil", "evil.o", "evil.so"}


def processes_naming(text: str) -> list[str]:
    """Processes that mention `text` in their command line or see it among their mounts: a jail binds what it runs."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if text in command or text in (entry / "mountinfo").read_text():
                found.append(f"{entry.name} {command.strip()}")
        except OSError:
            continue  # gone meanwhile
    return found


def listing(folder: str) -> frozenset[str]:
    return frozenset(os.listdir(folder)) if os.path.isdir(folder) else frozenset()


def abandoned_cgroups() -> frozenset[str]:
    """Groups whose maker is gone: a group's name holds the number of the process that made it."""
    made = re.compile(r"/pragma-(\d+)-[0-9a-f]+$")
    found = [made.search(path) for path, _, _ in os.walk("/sys/fs/cgroup")]
    return frozenset(match.string for match in found if match and not os.path.exists(f"/proc/{match[1]}"))


@dataclass(frozen=True)
class Traces:
    """What is on the whole machine. Other tests may run meanwhile, so what disappears is of no interest."""

    shared_memory: frozenset[str]
    system_v: tuple[str, ...]
    cgroups: frozenset[str]
    mounts: str
    host: str
    affinity: frozenset[int]
    clock_offset_s: float  # wall clock against the monotonic one
    of_exploits: frozenset[str]

    @staticmethod
    def now() -> Traces:
        return Traces(
            shared_memory=listing("/dev/shm"),
            system_v=tuple(pathlib.Path(f"/proc/sysvipc/{kind}").read_text() for kind in ("shm", "sem", "msg")),
            cgroups=abandoned_cgroups(),
            mounts=pathlib.Path("/proc/self/mounts").read_text(),
            host=socket.gethostname(),
            affinity=frozenset(os.sched_getaffinity(0)),
            clock_offset_s=round((time.time() - time.monotonic()) / 10) * 10,
            of_exploits=listing("/tmp") & NAMES_OF_EXPLOITS,
        )

    def since(self, before: Traces) -> dict[str, object]:
        """What is there or is different now, by name: nothing unless something was left behind."""
        found: dict[str, object] = {}
        for name, value in vars(self).items():
            old = vars(before)[name]
            if isinstance(value, frozenset) and name != "affinity":
                value, old = value - old, frozenset()
            if value != old:
                found[name] = value
        return found


def eventually(condition, seconds: float = 15) -> bool:
    """Whether `condition` becomes true: dying takes the kernel a moment."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
