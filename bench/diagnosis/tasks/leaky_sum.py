"""Sums along rows that forget: y[t] = 0.9 y[t-1] + x[t], of what lies between -3 and 3."""
import torch
import torch.nn as nn

STEPS = 128


class Model(nn.Module):
    def forward(self, x):
        total, columns = torch.zeros_like(x[:, 0]), []
        for t in range(STEPS):
            total = 0.9 * total.clamp(-3, 3) + x[:, t]
            columns.append(total)
        return torch.stack(columns, dim=1)


def get_inputs():
    return [torch.randn(1024, STEPS)]


def get_init_inputs():
    return []
