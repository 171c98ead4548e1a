"""Stereo matching: the lowest cost over 64 shifts, each cost summed over three rows."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, left, right):
        width = right.shape[1] - 63
        cost = torch.stack([(left - right[:, d:d + width]).abs() for d in range(64)])
        return (cost[:, :-2] + cost[:, 1:-1] + cost[:, 2:]).amin(0)


def get_inputs():
    return [torch.randn(258, 512), torch.randn(258, 575)]


def get_init_inputs():
    return []
