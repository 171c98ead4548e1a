"""Arithmetic of narrow integers, which wraps before the next operator reads it; and norms of rows of equal values."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, a, b, c, d, x):
        whole = (a * 3 + 1) // 2
        half = torch.where(-b - 100 < 0, b.abs(), b - 1).to(torch.int8)
        wide = (c * 70000 - 5) % 1000
        byte = ((d + 200) // 3).to(torch.float32) * 0.5
        flat = F.layer_norm(torch.relu(torch.tanh(x)), (97,))
        scaled = flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-5)
        return whole, half, wide, byte, (a.pow(3) < a), flat, scaled


def get_inputs():
    return [
        torch.randint(-128, 127, (5, 40), dtype=torch.int8),
        torch.randint(-32768, 32767, (7, 33), dtype=torch.int16),
        torch.randint(-(2**31), 2**31 - 1, (6, 20), dtype=torch.int32),
        torch.randint(0, 255, (80,), dtype=torch.uint8),
        torch.randn(4, 97),
    ]


def get_init_inputs():
    return []
