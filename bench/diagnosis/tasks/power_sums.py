"""The sums of the powers 1 to 24 of all elements."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        t = x.clamp(0.75, 1.25)
        p = torch.ones_like(t)
        out = []
        for _ in range(24):
            p = p * t
            out.append(p.sum())
        return torch.stack(out)


def get_inputs():
    return [torch.randn(1 << 19)]


def get_init_inputs():
    return []
