"""Many systems with a dominant diagonal and -1 beside it."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, diagonal, right):
        d = diagonal.abs() + 2
        upper, value = [], []
        c, v = torch.zeros_like(d[:, 0]), torch.zeros_like(d[:, 0])
        for k in range(d.shape[1]):
            m = 1 / (d[:, k] - c)
            c, v = m, (right[:, k] + v) * m
            upper.append(c)
            value.append(v)
        out = [value[-1]]
        for k in range(d.shape[1] - 2, -1, -1):
            out.append(value[k] + upper[k] * out[-1])
        return torch.stack(out[::-1], 1)


def get_inputs():
    return [torch.randn(8192, 64), torch.randn(8192, 64)]


def get_init_inputs():
    return []
