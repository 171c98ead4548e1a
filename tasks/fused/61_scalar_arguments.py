"""Weighted difference from an offset, summed over listed dimensions: scalars and a list."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 10, 20, 48, 52


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("offset", torch.randn(channels, 1, 1))

    def forward(self, x, gain: float, dims: list[int], keepdim: bool):
        return torch.sum((x - self.offset) * gain, dim=dims, keepdim=keepdim)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH), 0.375, [1, 3], True]


def get_init_inputs():
    return [CHANNELS]
