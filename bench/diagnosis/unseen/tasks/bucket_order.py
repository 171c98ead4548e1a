"""Values in the order of their keys (a stable counting sort with eight keys)."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, keys):
        return x[torch.argsort(keys, stable=True)]


def get_inputs():
    return [torch.randn(1 << 17), torch.randint(0, 8, (1 << 17,))]


def get_init_inputs():
    return []
