"""Sums of windows, of bags and of slices that indices name, distances of all pairs, and medians."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bags = nn.EmbeddingBag(40, 12, mode="mean")
        self.table = nn.Parameter(torch.randn(40, 12))

    def forward(self, columns, words, starts, factors, left, right, x, rows):
        lower, place = torch.median(x, dim=1)
        return (
            F.fold(columns, (9, 7), (3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1)),
            self.bags(words, starts).relu(),
            F.embedding_bag(words, self.table, starts, mode="max"),
            F.embedding_bag(words, self.table, starts, mode="sum", per_sample_weights=factors),
            torch.cdist(left, right), torch.cdist(left, right, p=1.0), torch.cdist(left[0], right[0], p=3.0), torch.cdist(left, right.round(), p=0.0),
            torch.linalg.vector_norm(left.round(), 0, -1), F.normalize(left, p=0.0, dim=1),
            lower, place, *torch.max(x[0, 0, 0], 0), torch.argmin(x[0, 1, 2]), torch.median(left), torch.median(x, dim=0, keepdim=True)[0],
            torch.index_reduce(x, 0, rows, x[:6] * 2, "amax"),
            torch.index_reduce(x, 0, rows, x[:6], "mean", include_self=False),
        )


def get_inputs():
    return [
        torch.randn(2, 18, 25), torch.randint(0, 40, (30,)), torch.tensor([0, 0, 7, 12, 29]), torch.rand(30),
        torch.randn(2, 9, 6), torch.randn(2, 5, 6), torch.randn(8, 11, 3), torch.randint(0, 8, (6,)),
    ]


def get_init_inputs():
    return []
