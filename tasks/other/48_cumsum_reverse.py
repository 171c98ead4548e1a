"""Running sum from the end of the middle dimension towards its start."""
import torch
import torch.nn as nn

BATCH, LENGTH, WIDTH = 16, 300, 130


class Model(nn.Module):
    def forward(self, x):
        return torch.flip(torch.cumsum(torch.flip(x, dims=(1,)), dim=1), dims=(1,))


def get_inputs():
    return [torch.randn(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return []
