"""Computes vectors of texts with a local sentence model, for `pragma knowledge search --embeddings local:MODEL`.

stdin:  {"model": NAME or folder, "texts": [...]}
stdout: {"data": [{"index": 0, "embedding": [...]}, ...]}
Exit 3: sentence-transformers cannot be imported; the last line on stderr says why.
"""

import json
import os
import sys

NO_LIBRARY = 3


def main() -> int:
    request = json.load(sys.stdin)
    # Libraries print to stdout, which must contain only the vectors.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        from sentence_transformers import SentenceTransformer
    except Exception as error:  # an import may fail in any way, e.g. if torch has another version
        print(f"{type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
        return NO_LIBRARY
    try:
        model = SentenceTransformer(request["model"])
        vectors = model.encode(request["texts"], show_progress_bar=False, normalize_embeddings=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
        return 1
    json.dump({"data": [{"index": i, "embedding": [float(x) for x in v]} for i, v in enumerate(vectors)]}, answer)
    answer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
