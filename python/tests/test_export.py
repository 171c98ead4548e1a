"""pragma_export.write: what becomes of a task's file."""

import ast
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from pragma_export.write import Refused, write  # noqa: E402

TASK = '''
"""A task."""
import torch
import torch.nn as nn

size = 8

def helper(x):
    """Says what it does."""
    return x

class Model(nn.Module):
    """Adds."""
    def __init__(self, n):
        super(Model, self).__init__()
        self.layers = nn.Sequential(nn.Linear(n, n))
    def note(self):
        pass
    def forward(self, x, others=None):
        return self.layers(x)

def get_inputs():
    return [torch.rand(size, size)]

def get_init_inputs():
    return [size]

if __name__ == "__main__":
    print(Model(size))
'''


def tensor(name, path, role="input"):
    return {"name": name, "path": path, "role": role, "dtype": "float32", "shape": [8, 8]}


def request(**changes):
    base = {
        "name": "add",
        "source": TASK,
        "arguments": [tensor("x", "args[0]"), tensor("w", "layers.0.weight", "parameter")],
        "outputs": [tensor("out", "output")],
        "output_kind": "tensor",
        "header": "#pragma once\nnamespace task {}\n",
        "kernel": '// mine\n#include "kernel.h"\nvoid f() { const char* s = "a\\n"; }\n',
        "candidate": "abc123",
        "compiler": "g++",
        "flags": ["-O3", "-fopenmp"],
        "scratch_bytes": 0,
        "packed_bytes": 0,
        "needs": ["avx2"],
    }
    return {**base, **changes}


def constants(text):
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_model_new_keeps_the_constructor_and_takes_its_own_tensors():
    text = write(request())
    tree = ast.parse(text)
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert classes == {"ModelNew"}
    assert "helper" in functions and "get_inputs" not in functions
    assert "super(ModelNew, self).__init__()" in text
    assert "getattr(self.layers, '0').weight" in text
    assert "def forward(self, x, others=None):" in text
    assert not any(isinstance(n, (ast.Try, ast.Pass)) for n in ast.walk(tree))
    assert "__main__" not in text


def test_header_and_kernel_become_one_source_exactly():
    source = constants(write(request()))["_PRAGMA_SOURCE"]
    assert source.strip() == '// mine\n\nnamespace task {}\nvoid f() { const char* s = "a\\n"; }'


@pytest.mark.parametrize("ending", ["'", "\\", "'''", "x = \"'''\""])
def test_sources_that_a_raw_string_cannot_hold(ending):
    source = constants(write(request(kernel='#include "kernel.h"\n// ' + ending)))["_PRAGMA_SOURCE"]
    assert source.endswith("// " + ending + "\n")


def test_scratch_prepare_and_kinds_of_output():
    text = write(request(scratch_bytes=64, packed_bytes=128, output_kind="tuple"))
    assert "torch.empty(64, dtype=torch.uint8)" in text
    assert "pragma_prepare" in text and "_version" in text
    assert "return (o0,)" in text
    assert "return [o0]" in write(request(output_kind="list"))


@pytest.mark.parametrize(
    "changes, reason",
    [
        (
            {"source": TASK.replace("def forward(self, x, others=None)", "def forward(self, *x)")},
            "*args",
        ),
        ({"source": TASK.replace("class Model(", "class Other(")}, "class Model"),
        (
            {
                "source": TASK.replace(
                    "    return x\n", "    try:\n        return x\n    finally:\n        x = 0\n"
                )
            },
            "try",
        ),
        ({"arguments": [tensor("c", "lifted_tensor_0", "constant")]}, "lifted_tensor_0"),
        ({"arguments": [tensor("y", "args[7]")]}, "args[7]"),
    ],
)
def test_tasks_without_room_for_a_drop_in_are_refused(changes, reason):
    with pytest.raises(Refused, match=".*" + reason.replace("*", r"\*").replace("[", r"\[")):
        write(request(**changes))
