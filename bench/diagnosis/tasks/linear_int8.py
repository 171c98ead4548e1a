"""Rows times an 8-bit matrix."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return x @ weight.to(x.dtype)


def get_inputs():
    return [torch.randn(1024, 48), torch.randint(-128, 128, (48, 128), dtype=torch.int8)]


def get_init_inputs():
    return []
