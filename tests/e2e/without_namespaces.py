"""Runs a command as a container does that permits no namespaces: `without_namespaces.py [--no-landlock] COMMAND...`."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

NUMBERS = {"x86_64": {"clone": 56, "unshare": 272}, "aarch64": {"clone": 220, "unshare": 97}}
CLONE3, LANDLOCK = 435, (444, 445, 446)
NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET

# The classic filter's machine (linux/bpf_common.h, linux/seccomp.h).
LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2


def step(code: int, k: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, k)


def refuse(number: int, error: int) -> bytes:
    return step(JUMP_EQUAL, number, no=1) + step(RETURN, ERRNO | error)


def rules(landlock: bool) -> bytes:
    numbers = NUMBERS[platform.machine()]
    code = step(LOAD, NUMBER_AT)
    code += refuse(numbers["unshare"], errno.EPERM) + refuse(CLONE3, errno.ENOSYS)
    for number in () if landlock else LANDLOCK:
        code += refuse(number, errno.ENOSYS)
    code += step(JUMP_EQUAL, numbers["clone"], no=3) + step(LOAD, FIRST_ARGUMENT_AT)
    code += step(JUMP_SET, NEW_NAMESPACES, no=1) + step(RETURN, ERRNO | errno.EPERM)
    return code + step(RETURN, ALLOW)


def install(code: bytes) -> None:
    memory = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(memory)))
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot install the filter")


if __name__ == "__main__":
    words = sys.argv[1:]
    with_landlock = words[0] != "--no-landlock"
    install(rules(with_landlock))
    command = words if with_landlock else words[1:]
    os.execv(command[0], command)
