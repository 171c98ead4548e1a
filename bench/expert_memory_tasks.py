"""Memory-bound operators as tasks in KernelBench's format, with tensors far larger than the last-level cache.

Each operator is one line: name, layers, expression over x (and y), shapes.
"""

from pathlib import Path

TEMPLATE = '''import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {layer}

    def forward(self, {arguments}):
        return {expression}


def get_inputs():
    return [{tensors}]


def get_init_inputs():
    return []
'''

FLAT = "8192, 8192"
ROWS = "16384, 4096"
LONG_ROWS = "32, 1048576"
MIDDLE = "64, 256, 4096"
IMAGES = "16, 64, 256, 256"

# name, layer, expression, tensors
OPERATORS = [
    ("relu", "", "torch.relu(x)", [FLAT]),
    ("gelu", "", "F.gelu(x)", [FLAT]),
    ("sigmoid", "", "torch.sigmoid(x)", [FLAT]),
    ("scale", "", "x * 0.3", [FLAT]),
    ("add", "", "x + y", ["8192, 4096", "8192, 4096"]),
    ("sum_last", "", "x.sum(-1)", [ROWS]),
    ("sum_middle", "", "x.sum(1)", [MIDDLE]),
    ("mean_first", "", "x.mean(0)", [ROWS]),
    ("max_last", "", "x.amax(-1)", [ROWS]),
    ("max_middle", "", "x.amax(1)", [MIDDLE]),
    ("argmax_last", "", "x.argmax(-1)", [ROWS]),
    ("argmax_middle", "", "x.argmax(1)", [MIDDLE]),
    ("sum_of_all", "", "x.sum()", [FLAT]),
    ("softmax", "", "x.softmax(-1)", [ROWS]),
    ("softmax_long_rows", "", "x.softmax(-1)", [LONG_ROWS]),
    ("log_softmax", "", "x.log_softmax(-1)", [ROWS]),
    ("layer_norm", "nn.LayerNorm(4096)", "self.layer(x)", [ROWS]),
    ("layer_norm_16_mb_rows", "nn.LayerNorm((64, 256, 256))", "self.layer(x)", [IMAGES]),
    ("rms_norm", "nn.RMSNorm(4096)", "self.layer(x)", [ROWS]),
    ("rms_norm_over_channels", "", "x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-5)", [IMAGES]),
    ("instance_norm", "nn.InstanceNorm2d(64)", "self.layer(x)", [IMAGES]),
    ("group_norm", "nn.GroupNorm(8, 64)", "self.layer(x)", [IMAGES]),
    ("batch_norm", "nn.BatchNorm2d(64, track_running_stats=False)", "self.layer(x)", [IMAGES]),
    ("l1_norm", "", "x / x.abs().sum(1, keepdim=True)", [ROWS]),
    ("l2_norm", "", "x / torch.norm(x, p=2, dim=1, keepdim=True)", [ROWS]),
    ("frobenius_norm", "", "x / torch.norm(x)", [FLAT]),
    ("avg_pool1d", "nn.AvgPool1d(8, 1, 4)", "self.layer(x)", ["64, 64, 16384"]),
    ("max_pool1d", "nn.MaxPool1d(5, 2, 1, 2)", "self.layer(x)", ["64, 64, 16384"]),
    ("avg_pool2d", "nn.AvgPool2d(3)", "self.layer(x)", [IMAGES]),
    ("max_pool2d", "nn.MaxPool2d(3, 2, 1)", "self.layer(x)", [IMAGES]),
    ("max_pool2d_with_holes", "nn.MaxPool2d(2, 2, 1, 3)", "self.layer(x)", [IMAGES]),
    ("avg_pool3d", "nn.AvgPool3d(3, 2, 1)", "self.layer(x)", ["8, 32, 64, 64, 64"]),
    ("max_pool3d_with_holes", "nn.MaxPool3d(3, 2, 1, 3)", "self.layer(x)", ["8, 32, 64, 64, 64"]),
    ("cumsum", "", "x.cumsum(1)", [ROWS]),
    ("mse_loss", "", "F.mse_loss(x, y)", ["8192, 4096", "8192, 4096"]),
    ("cross_entropy", "", "F.cross_entropy(x, y)", [ROWS, "integers"]),
    ("matrix_vector", "", "x @ y", ["256, 131072", "131072, 1"]),
    ("vector_matrix", "", "y @ x", ["16384, 4096", "1, 16384"]),
    ("concat", "", "torch.cat([x, y], 1)", ["8192, 4096", "8192, 4096"]),
    ("transposed_copy", "", "x.t().contiguous()", [FLAT]),
]


def tensor(text):
    if text == "integers":
        return "torch.randint(0, 4096, (16384,))"
    return f"torch.randn({text})"


def write(folder, word=""):
    """Writes a file for each operator whose name contains `word`. Returns their paths, in order."""
    paths = []
    for name, layer, expression, tensors in OPERATORS:
        if word not in name:
            continue
        path = Path(folder) / f"{name}.py"
        path.write_text(TEMPLATE.format(
            layer=layer or "None", arguments=", ".join("xy"[:len(tensors)]), expression=expression,
            tensors=", ".join(map(tensor, tensors))), encoding="utf-8")
        paths.append(path)
    return paths
