"""A `command:` model for `pragma knowledge build`: an entry for each segment, one for each merge.

Usage: python3 scripted_reader.py FOLDER. FOLDER/asked gets a line for each prompt; with FOLDER/stop holding
a number, the prompt of that number is not answered (the program waits until what started it is killed).
"""

import json
import os
import pathlib
import re
import sys
import time


def entry(name: str, title: str) -> dict:
    return {
        "id": f"metric.{name}",
        "title": title,
        "targets": ["cpu"],
        "aliases": [],
        "summary": f"What {title} says.",
        "when": "Always.",
        "how": "Read it.",
        "traps": "None.",
        "effect": "Knowledge.",
        "classes": [],
        "related": [],
    }


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    prompt = sys.stdin.read()
    with (folder / "asked").open("a") as log:
        log.write(f"{os.environ['PRAGMA_ROLE']} {os.environ['PRAGMA_NODE']} {os.environ['PRAGMA_ORDINAL']}\n")
    asked = len((folder / "asked").read_text().splitlines())
    stop = folder / "stop"
    if stop.exists() and asked == int(stop.read_text()):
        (folder / "stopped").touch()
        parent = os.getppid()
        while os.getppid() == parent:  # until the program, or the shell between, has been killed
            time.sleep(0.05)
        sys.exit(1)
    if os.environ["PRAGMA_ROLE"] == "knowledge_merge":
        found = re.findall(r'"id":"(metric\.\w+)"', prompt)
        sources = re.findall(r'"sources":\["([^"]+)"', prompt)
        claims = [{"source": source, "says": str(i)} for i, source in enumerate(sources)]
        answer = {
            "entries": [entry(found[0].removeprefix("metric."), "merged")],
            "conflicts": [{"entry": found[0], "about": "the default", "claims": claims}],
        }
    else:
        words = re.search(r"marker-(\w+)", prompt)
        answer = {"entries": [entry(words.group(1), words.group(1))] if words else []}
    print(f"```json\n{json.dumps(answer)}\n```")


if __name__ == "__main__":
    main()
