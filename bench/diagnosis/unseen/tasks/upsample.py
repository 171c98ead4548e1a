"""Signals with three zeros after each sample, filtered."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, taps):
        stuffed = F.pad(x[:, :, None], (0, 3)).flatten(1)
        padded = F.pad(stuffed, (0, taps.shape[0] - 1))
        return sum(taps[k] * padded[:, k:k + stuffed.shape[1]] for k in range(taps.shape[0]))


def get_inputs():
    return [torch.randn(16, 8192), torch.randn(16)]


def get_init_inputs():
    return []
