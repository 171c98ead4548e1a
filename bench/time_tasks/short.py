"""A layer that takes microseconds: all of the time goes to what surrounds it."""

import torch


class Model(torch.nn.Module):
    def forward(self, x, scale):
        return torch.softmax(x * scale, -1)


def get_inputs():
    return [torch.randn(64, 256), torch.randn(256)]


def get_init_inputs():
    return []
