"""Soft-maxima of products, whose rounding must not show when the largest value is taken away."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, query, scale, wide, masked):
        scores = torch.softmax(query * scale, -1)
        logs = torch.log_softmax(query * 0.3, 0)
        sums = torch.logsumexp(query * scale, -1)
        return scores, logs, sums, torch.softmax(wide * wide, 1), torch.softmax(masked * scale.double(), -1)


def get_inputs():
    return [
        torch.randn(20, 333),
        torch.tensor(0.3),
        torch.randn(3, 40, 17),
        torch.randn(5, 70, dtype=torch.float64),
    ]


def get_init_inputs():
    return []
