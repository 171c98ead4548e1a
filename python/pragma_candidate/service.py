"""Service: the life of one candidate's process, which serves the control page of worker/protocol.h.

It serves a Work: a ModelNew on views of the ring (runner.py), or a Triton module in an area of device memory
(pragma_triton/kernels.py).
"""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Callable
from typing import Protocol

import torch

from pragma_candidate import keep
from pragma_candidate.late_filter import LateFilter
from pragma_torch import control
from pragma_torch.errors import said_by

CONTROL_FD, INPUT_FD, OUTPUT_FD, SCRATCH_FD, KEEP_FD, LATE_FD = 3, 4, 5, 6, 7, 8
KEEP_FOLDER = "PRAGMA_KEEP"  # environment variable: the folder for what is compiled
LOAD_FAILED = 1
WRONG_FORM = 4
REFUSED = 5
_COLLECT_ABOVE = 20_000  # young objects that trigger a garbage collection, after the answer


class Unloadable(Exception):
    """The candidate cannot be used for this task. The text says why."""


class WrongForm(Exception):
    """An output is not a plain dense tensor of exactly the expected shape and type."""


class Refused(Exception):
    """The candidate's compiled code contains something that is not allowed. The text says what."""


class Work(Protocol):
    """One candidate. Exceptions of these calls are the candidate's."""

    entry: str  # name of what is called, for messages: "forward"

    def load(self) -> None: ...
    # `scramble` is a seed. If it is not 0, memory in which an earlier call may have left something is filled with
    # random bytes before each call. Calls as a user makes them are made `repeat` times over (worker/protocol.h).
    def run(self, order: list[int], scramble: int, repeat: int) -> None: ...
    def idle(self, order: list[int]) -> None: ...  # like run, but without its calls
    def wake(self) -> None: ...  # on a device: makes it switch to this process
    # What it does on other commands of worker/protocol.h, for the listed sets.
    commands: dict[int, Callable[[list[int]], None]]


class Service:
    """It is made before candidate code runs, and takes over its descriptors."""

    def __init__(
        self, control_fd: int, work: Work, late_filter: LateFilter, threads: int, keep_fd: int = -1
    ) -> None:
        """`keep_fd` is memory for what is compiled (keep.py). -1 means that the folder itself persists."""
        self._page = control.ControlPage(control_fd)
        os.close(control_fd)
        self._work = work
        self._late_filter: LateFilter | None = late_filter
        self._keep_fd = keep_fd
        self._kept = False
        torch.set_num_threads(threads)

    def serve(self) -> None:
        """Serves until it is told to exit. Runs under no_grad, as KernelBench runs solutions, without garbage
        collection in a burst."""
        page = self._page
        with torch.no_grad():
            while True:
                command, order = page.wait()
                if command == control.RUN:
                    page.answer(self._run(order))
                elif command == control.EMPTY:
                    self._work.idle(order)
                    page.answer(control.OK)
                elif command == control.WAKE:
                    self._work.wake()
                    page.answer(control.OK)
                elif command in self._work.commands:
                    page.answer(self._do(self._work.commands[command], order))
                elif command == control.LOAD:
                    page.answer(self._load())
                elif command == control.EXIT:
                    os._exit(0)
                else:
                    page.answer(control.BAD_COMMAND)
                if gc.get_count()[0] > _COLLECT_ABOVE:
                    gc.collect()

    def _run(self, order: list[int]) -> int:
        def run_and_filter(sets: list[int]) -> None:
            self._work.run(sets, self._page.scramble, self._page.repeat)
            if self._late_filter is not None:
                self._first_run_done()

        return self._do(run_and_filter, order)

    def _do(self, work: Callable[[list[int]], None], order: list[int]) -> int:
        """Returns the code of the outcome."""
        try:
            work(order)
        except WrongForm as error:
            self._page.say(str(error))
            return WRONG_FORM
        except Refused as error:
            self._page.say(str(error))
            return REFUSED
        except BaseException as error:
            return self._failed(self._work.entry, error, control.RAISED)
        return control.OK

    def _first_run_done(self) -> None:
        """By now everything is compiled, including what the candidate compiles on its first call."""
        if self._keep_fd >= 0:
            if not self._kept:
                keep.save(self._keep_fd, os.environ[KEEP_FOLDER])
            os.close(self._keep_fd)
        assert self._late_filter is not None
        self._late_filter.install()
        self._late_filter = None

    def _load(self) -> int:
        try:
            if self._keep_fd >= 0:
                self._kept = keep.restore(self._keep_fd, os.environ[KEEP_FOLDER])
            self._work.load()
        except Unloadable as error:
            self._page.say(str(error))
            return LOAD_FAILED
        except Refused as error:
            self._page.say(str(error))
            return REFUSED
        except BaseException as error:
            return self._failed("loading it", error, LOAD_FAILED)
        gc.collect()
        gc.freeze()
        gc.disable()
        return control.OK

    def _failed(self, what: str, error: BaseException, code: int) -> int:
        traceback.print_exc()
        if isinstance(error, SystemExit):
            self._page.say(f"{what} ends the program (exit code {error.code})")
        else:
            self._page.say(f"{what} raises {type(error).__name__}: {said_by(error, 300)}")
        return code
