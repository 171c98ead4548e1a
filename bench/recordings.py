"""Reads recorded runs (`pragma export RUN --recording`), counts their attempts' outcomes and times kernels anew."""

from __future__ import annotations

import collections
import json
import pathlib
import subprocess

import benchlib


class Run:
    """One recorded run: TASK.STRATEGY.jsonl, or TASK.STRATEGY.NUMBER.jsonl if there are several."""

    def __init__(self, path):
        self.path = path
        self.task, self.strategy, *rest = path.name.removesuffix(".jsonl").split(".")
        self.number = rest[0] if rest else "1"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        self.trials = [line["trial"] for line in lines if line["kind"] == "trial"]
        self.calls = [line for line in lines if line["kind"] == "call"]
        self.source = next(line for line in lines if line["kind"] == "run")["task"]["source"]

    @property
    def best(self):
        found = [trial for trial in self.trials if trial["best"]]
        return found[-1] if found else None

    @property
    def first(self):
        """Returns the first attempt if it passed, else None."""
        trial = self.trials[0]
        return trial if trial["evaluation"]["status"] == "passed" else None

    @property
    def statuses(self):
        return collections.Counter(trial["evaluation"]["status"] for trial in self.trials)

    @property
    def came_to(self):
        return ", ".join(f"{count} {status}" for status, count in self.statuses.most_common())

    def eager_after(self, attempts):
        """Returns the recorded speedup over eager of the best of the first attempts, or 0 if none passed."""
        found = [trial for trial in self.trials[:attempts] if trial["best"]]
        return found[-1]["evaluation"]["speedup"]["eager"]["median"] if found else 0

    @property
    def prompt_bytes(self):
        """Returns the median size of the Conductor's prompts."""
        sizes = [sum(len(message["text"]) for message in call["messages"]) for call in self.calls
                 if call["role"] == "conductor"]
        return benchlib.median(sizes) if sizes else 0


class Judge:
    """Runs `pragma evaluate` on recorded candidates. Their files are in a folder that the caller owns."""

    def __init__(self, program, home, folder):
        self.program, self.home, self.folder = program, home, folder

    def evaluate(self, run, trial, other=None, flags=("--no-compile-baseline",)):
        """Evaluates a trial of the run, against the candidate of another (run, trial) if one is given."""
        task = self.folder / f"{run.task}.py"
        task.write_text(run.source, encoding="utf-8")
        against = ["--against", self.written(*other)] if other else []
        command = [self.program, "evaluate", task, self.written(run, trial), *against, "--json",
                   *flags, "--home", self.home]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        return benchlib.last_json(done.stdout, "evaluate")

    def written(self, run, trial):
        candidate = trial["candidate"]
        (name, text), = candidate["files"].items()
        file = self.folder / f"{run.task}.{run.strategy}.{trial['node']}{pathlib.Path(name).suffix}"
        if candidate["language"] != "cpp":  # such a candidate's flags, if any, are in its text
            file.write_text(text, encoding="utf-8")
            return file
        head = {"pragma-flags": " ".join(candidate["flags"]), "pragma-compiler": candidate["compiler"]}
        lines = [f"// {key}: {value}" for key, value in head.items()]
        source = [line for line in text.splitlines() if not line.startswith("// pragma-")]
        file.write_text("\n".join(lines + source) + "\n", encoding="utf-8")
        return file


def ratio(pair):
    return f"{pair['median']:.2f} ({pair['ci95'][0]:.2f} to {pair['ci95'][1]:.2f})" if pair else "-"


def verdict(pair):
    if not pair:
        return "-"
    low, high = pair["ci95"]
    return "faster" if low > 1 else "slower" if high < 1 else "same"
