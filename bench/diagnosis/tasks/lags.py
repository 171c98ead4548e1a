"""Products of each signal with itself, 64 lags later at most."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        n = x.shape[1] - 64
        return torch.stack([(x[:, :n] * x[:, lag : lag + n]).sum(1) for lag in range(64)], 1)


def get_inputs():
    return [torch.randn(128, 8256)]


def get_init_inputs():
    return []
