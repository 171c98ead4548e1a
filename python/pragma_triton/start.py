"""python -I start.py: forks the processes of one Triton module on request. Requests come on descriptor 3."""

from __future__ import annotations

import os
import sys

# With -I neither PYTHONPATH nor this folder is searched. The packages are in the same parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from pragma_triton.zygote import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
