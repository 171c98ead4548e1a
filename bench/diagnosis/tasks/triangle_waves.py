"""Eight overtones of a triangle wave at the phases given."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, phase):
        total = torch.zeros_like(phase)
        for k in range(1, 9):
            total = total + (torch.fmod(phase.abs() * k, 1) - 0.5).abs() / (k * k)
        return total


def get_inputs():
    return [torch.randn(1 << 17) * 8]


def get_init_inputs():
    return []
