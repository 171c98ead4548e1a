"""A task whose kernel may take any time. The benchmarks of timing itself use it (bench/work.py)."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.abs(x)


def get_inputs():
    return [torch.randn(16384)]


def get_init_inputs():
    return []
