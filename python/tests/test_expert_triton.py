"""What the built-in expert writes in Triton: values in Triton's interpreter, one module a family.

PRAGMA_TRITON_ALL=1: the slow ones as well. Whether Triton's compiler takes the same texts:
tests/expert/triton_texts.py compile.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest
from conftest import ROOT

BUILD = ROOT.parent / os.environ.get("PRAGMA_BUILD", "build")
SOURCE = BUILD / "pragma-expert-source"
TEXTS = ROOT.parent / "tests" / "expert" / "triton_texts.py"

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch"
    ),
    pytest.mark.skipif(not SOURCE.exists(), reason=f"{SOURCE} is not built"),
]

TASK = """
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {layer}
    def forward(self, {names}):
        return {body}
def get_inputs():
    return [{inputs}]
def get_init_inputs():
    return []
"""
# name: the result of forward, the inputs, and the layout
QUICK = {
    "pointwise": ("F.gelu(x) * torch.tanh(y) + x.clamp(-1, 1)", "torch.randn(7, 33), torch.randn(33)", "None"),
    "nans": ("torch.relu(torch.sqrt(x)), torch.sqrt(x).amax(1)", "torch.randn(5, 30)", "None"),
    "softmax": ("F.softmax(x, 1), F.log_softmax(x, 0)", "torch.randn(9, 70)", "None"),
    "softmax_long": ("F.log_softmax(x, 1)", "torch.randn(133, 16500)", "None"),
    "norms": ("F.layer_norm(x, (40,)) + F.normalize(x, dim=1)", "torch.randn(5, 30, 40)", "None"),
    "folds": ("x.sum(1), x.prod(2), x.argmin(1), x.max(2)", "torch.rand(3, 20, 17) + 0.6", "None"),
    "scans": ("x.cumsum(1), x.flip(1).cumprod(1).flip(1)", "torch.rand(3, 70) + 0.5", "None"),
    "pools": ("F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1)", "torch.randn(2, 3, 11, 13)", "None"),
    "places": ("F.adaptive_max_pool2d(x.round(), (3, 4), return_indices=True)", "torch.randn(2, 3, 7, 9)", "None"),
    "product": ("F.relu(self.layer(x)) + x", "torch.randn(50, 64)", "nn.Linear(64, 64)"),
    "triangle": ("torch.tril(torch.tril(x) @ y)", "torch.randn(90, 90), torch.randn(90, 90)", "None"),
    "vector": ("x @ y", "torch.randn(90, 200), torch.randn(200)", "None"),
    "convolution": ("self.layer(x).relu()", "torch.randn(2, 16, 9, 11)", "nn.Conv2d(16, 16, 3, 2, 1)"),
    "depthwise": ("self.layer(x)", "torch.randn(2, 8, 9, 11)", "nn.Conv2d(8, 8, 3, groups=8)"),
    # Groups of results of a line: several, with a stride, and one that takes the whole line.
    "depthwise_groups": (
        "self.layer(x), F.conv2d(x[..., :10], self.layer.weight, None, (2, 1), 3, (1, 2), 8).relu()",
        "torch.randn(2, 8, 9, 20)",
        "nn.Conv2d(8, 8, 7, (1, 2), (3, 2), groups=8)",
    ),
    "transposed": ("self.layer(x)", "torch.randn(2, 16, 7, 6)", "nn.ConvTranspose2d(16, 12, 3, 2, 1)"),
    "transposed_16": (
        "self.layer(x).relu(), F.conv_transpose2d(x, y, None, (1, 3), (2, 0), (0, 2), 1, (2, 1))",
        "torch.randn(2, 16, 7, 6).half(), torch.randn(16, 24, 2, 3).half()",
        "nn.ConvTranspose2d(16, 24, 3, 2, 1, dilation=3).half()",
    ),
    "attention": ("F.scaled_dot_product_attention(x, x, x, is_causal=True)", "torch.randn(2, 2, 40, 16)", "None"),
    "lookup": ("self.layer(x), torch.gather(y, 1, x)", "torch.randint(0, 9, (4, 5)), torch.randn(4, 9)",
               "nn.Embedding(9, 33)"),
    "product_16": ("F.gelu(self.layer(x))", "torch.randn(50, 64).to(torch.bfloat16)", "nn.Linear(64, 48).to(torch.bfloat16)"),
    "convolution_16": ("self.layer(x).relu()", "torch.randn(2, 16, 9, 11).half()", "nn.Conv2d(16, 24, 3, 2, 1).half()"),
    "depthwise_norm": ("F.layer_norm(self.layer(x).permute(0, 2, 3, 1), (16,)), self.layer(x * 2).flatten(2).sum(2)",
                       "torch.randn(2, 16, 9, 11)", "nn.Conv2d(16, 16, 7, padding=3, groups=16)"),
    "depthwise_16": ("self.layer(x)", "torch.randn(2, 24, 13, 12).half()",
                     "nn.Conv2d(24, 24, 5, stride=2, padding=3, dilation=2, groups=24).half()"),
    "depthwise_line": ("self.layer(x).relu() + x[..., :1], self.layer(x).flip(2)", "torch.randn(3, 8, 70)",
                       "nn.Conv1d(8, 8, 31, padding=15, groups=8)"),
    "attention_16": ("F.scaled_dot_product_attention(x, y, z, is_causal=True, enable_gqa=True)",
                     "torch.randn(2, 4, 37, 24).half(), torch.randn(2, 2, 37, 24).half(), torch.randn(2, 2, 37, 24).half()",
                     "None"),
    "attention_one": ("F.scaled_dot_product_attention(x, y, y)", "torch.randn(16, 16, 1, 20), torch.randn(16, 16, 70, 20)", "None"),
    "attention_shared": ("F.scaled_dot_product_attention(x, y, z, enable_gqa=True).transpose(1, 2).reshape(2, -1) * 2",
                         "torch.randn(2, 6, 1, 24).half(), torch.randn(2, 2, 70, 24).half(), torch.randn(2, 2, 70, 24).half()",
                         "None"),
    "attention_shared_rows": ("F.scaled_dot_product_attention(x, y, y, z, enable_gqa=True)",
                              "torch.randn(2, 6, 3, 24).half(), torch.randn(2, 2, 70, 24).half(), torch.randn(3, 70).half()",
                              "None"),
    "attention_repeated": ("F.scaled_dot_product_attention(x, *(t[:, :, None].expand(2, 2, 3, 70, 24).reshape(2, 6, 70, 24) "
                           "for t in (y, y * 2)), attn_mask=z)",
                           "torch.randn(2, 6, 3, 24).half(), torch.randn(2, 2, 70, 24).half(), torch.rand(2, 1, 3, 70) < 0.8",
                           "None"),
    "few_rows_16": ("self.layer(x)", "torch.randn(7, 600).to(torch.bfloat16)", "nn.Linear(600, 90).to(torch.bfloat16)"),
    "rotary": ("x * y + torch.cat([-x[..., 16:], x[..., :16]], -1) * z, torch.stack([x, -x], -1).flatten(-2) * 2",
               "torch.randn(2, 5, 32), torch.randn(5, 32), torch.randn(5, 32)", "None"),
    "turned": ("(x.t() * 2 + 1).contiguous()", "torch.randn(70, 36)", "None"),
    "integers": ("x // 3 + x % 5, (x > 3).any(1), x.sum()", "torch.randint(-50, 50, (20, 31))", "None"),
}  # fmt: skip
SLOW = {
    "batch_norm": ("self.layer(x)", "torch.randn(8, 6, 20, 75) + 3", "nn.BatchNorm2d(6)"),
    "full_fold": ("(x - y).abs().mean()", "torch.randn(500, 300), torch.randn(500, 300)", "None"),
    "product_uneven_16": ("x @ y", "torch.randn(1301, 1303).half(), torch.randn(1303, 1305).half()", "None"),
    "product_long": ("x @ y", "torch.randn(40, 9000), torch.randn(9000, 50)", "None"),
    "variance_long": ("x.var(1), F.layer_norm(x, (17000,))", "torch.randn(133, 17000) + 3", "None"),
    "layer_norm_few": ("F.layer_norm(x, (40, 40, 40))", "torch.randn(3, 40, 40, 40) + 3", "None"),
    "convolution_packed": ("self.layer(x).relu()", "torch.randn(4, 48, 120, 121)", "nn.Conv2d(48, 168, (3, 4), (1, 2), 2)"),
    "transposed_packed": ("self.layer(x)", "torch.randn(8, 48, 60, 61)", "nn.ConvTranspose2d(48, 160, (4, 3), (2, 1), 1)"),
    "prime": ("x.sum(), x.max()", "torch.randn(331777)", "None"),
    "columns_long": ("x.mean(0)", "torch.randn(3000, 70)", "None"),
}
ALL = QUICK | (SLOW if os.environ.get("PRAGMA_TRITON_ALL") == "1" else {})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The expert's texts: their folder, the tasks' paths, and what was said while they were written."""
    folder = tmp_path_factory.mktemp("texts")
    paths = []
    for name, (body, inputs, layer) in ALL.items():
        count = inputs.count("torch.rand")
        path = folder / f"{name}.py"
        path.write_text(TASK.format(layer=layer, names=", ".join("xyz"[:count]), body=body, inputs=inputs))
        paths.append(str(path))
    written = subprocess.run(
        [str(SOURCE), sys.executable, str(folder / "out"), "--triton", *paths],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return folder / "out", paths, written


def outcomes_of(mode, written, **more):
    folder, paths, made = written
    ran = subprocess.run(
        [sys.executable, str(TEXTS), mode, str(folder), *paths],
        capture_output=True, text=True, check=False, env={**os.environ, **more},
    )  # fmt: skip
    assert ran.returncode in (0, 1), made.stdout + made.stderr + ran.stderr
    refused = [line for line in made.stdout.splitlines() if "refused" in line]
    return dict(line.split(": ", 1) for line in [*ran.stdout.splitlines(), *refused])


@pytest.fixture(scope="module")
def outcomes(written):
    return outcomes_of("run", written)


@pytest.fixture(scope="module")
def for_amd(written):
    return outcomes_of("compile", written, TARGET="gfx942")


@pytest.mark.parametrize("name", ALL)
def test_the_experts_text_computes_what_torch_does(outcomes, name):
    assert outcomes[name].startswith("ok"), outcomes[name]


@pytest.mark.parametrize("name", ALL)
def test_triton_compiles_the_experts_text_for_an_amd_gpu(for_amd, name):
    assert for_amd[name].startswith("ok"), for_amd[name]
