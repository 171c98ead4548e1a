"""Exponential smoothing over time of many channels."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, start):
        s = start
        out = []
        for t in range(x.shape[0]):
            s = s * 0.9375 + x[t] * 0.0625
            out.append(s)
        return torch.stack(out)


def get_inputs():
    return [torch.randn(512, 1024), torch.randn(1024)]


def get_init_inputs():
    return []
