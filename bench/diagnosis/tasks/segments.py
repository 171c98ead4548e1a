"""A polynomial of each element, summed over segments of very unequal length."""
import torch
import torch.nn as nn

SIZES = [16384, 8192, 32768, 4096, 65536, 16384, 8192, 32768, 49152, 24576, 4096, 786432]


class Model(nn.Module):
    def forward(self, x, coef):
        t = x.clamp(-1, 1)
        p = torch.zeros_like(t)
        for k in range(coef.shape[0] - 1, -1, -1):
            p = p * t + coef[k]
        return torch.stack([s.sum() for s in p.split(SIZES)])


def get_inputs():
    return [torch.randn(1 << 20), torch.rand(32) * 0.5]


def get_init_inputs():
    return []
