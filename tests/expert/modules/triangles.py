"""Products of triangular matrices, and results of which one side counts."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, c):
        lower, upper = torch.tril(a), torch.triu(b)
        return (
            torch.tril(torch.tril(a) @ torch.tril(b)),
            torch.triu(torch.triu(a) @ upper),
            lower @ c,
            c.T @ torch.triu(a, 3),
            lower @ upper,
        )


def get_inputs():
    return [torch.randn(203, 203), torch.randn(203, 203), torch.randn(203, 77)]


def get_init_inputs():
    return []
