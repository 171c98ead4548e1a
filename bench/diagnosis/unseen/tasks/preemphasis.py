"""Pre-emphasis and a window for each frame of a signal."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, frames, window):
        before = torch.cat([torch.zeros_like(frames[:, :1]), frames[:, :-1]], 1)
        return (frames - 0.97 * before) * window


def get_inputs():
    return [torch.randn(640, 400), torch.rand(400)]


def get_init_inputs():
    return []
