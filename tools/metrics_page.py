#!/usr/bin/env python3
"""Writes the tables of docs/metrics.md from knowledge/metrics/, or checks that they are the same.

A table stands between `<!-- knowledge/metrics/NAME.toml -->` and `<!-- end -->`. Every file with [[metric]] tables must
have one.
"""
import pathlib
import re
import sys

try:
    import tomllib
except ImportError:
    sys.exit("tools/metrics_page.py needs Python 3.11 or later (tomllib)")

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "metrics.md"
BLOCK = re.compile(r"<!-- (knowledge/metrics/[a-z-]+\.toml) -->\n.*?<!-- end -->", re.DOTALL)


def table_of(metrics):
    lines = ["| tag | unit | meaning |", "|---|---|---|"]
    lines += [f"| `{m['tag']}` | {m['unit']} | {m['meaning']} |" for m in metrics]
    return "\n".join(lines)


def page_with_tables(text):
    """Returns the page as it should be, and the files of knowledge/metrics/ that it leaves out."""
    missing = {
        str(path.relative_to(ROOT)): metrics
        for path in sorted((ROOT / "knowledge" / "metrics").glob("*.toml"))
        if (metrics := tomllib.loads(path.read_text()).get("metric"))
    }

    def block(match):
        metrics = missing.pop(match[1], [])
        return f"<!-- {match[1]} -->\n{table_of(metrics)}\n<!-- end -->"

    return BLOCK.sub(block, text), list(missing)


def main(mode):
    text = PAGE.read_text()
    wanted, missing = page_with_tables(text)
    for name in missing:
        print(f"docs/metrics.md: {name} has metrics and no table; add <!-- {name} --> and <!-- end -->")
    if mode == "fix":
        PAGE.write_text(wanted)
    elif text != wanted:
        print("docs/metrics.md: the tables differ from knowledge/metrics/; run tools/metrics_page.py fix")
    return int(bool(missing) or (mode == "check" and text != wanted))


if __name__ == "__main__":
    if sys.argv[1:] not in (["check"], ["fix"]):
        sys.exit("usage: tools/metrics_page.py check|fix")
    sys.exit(main(sys.argv[1]))
