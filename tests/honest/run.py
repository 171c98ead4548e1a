#!/usr/bin/env python3
"""Judges the honest suite: tests/red_team/run.py --suite honest."""

import pathlib
import runpy
import sys

sys.argv[1:1] = ["--suite", "honest"]
runpy.run_path(str(pathlib.Path(__file__).resolve().parent.parent / "red_team" / "run.py"), run_name="__main__")
