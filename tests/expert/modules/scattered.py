"""Writes to places that depend on data, with every reduction, and reads by several indices."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, index, rows, source, across, factors, mask):
        taken = x[rows, :, across]
        between = x[:, rows % 5, across % 4]
        put = x.index_put((rows, across % 5), source[:, :4] * 2)
        return (
            taken.relu(), between, put,
            torch.zeros_like(x).index_put((rows,), between.new_ones(7, 5, 4), accumulate=True),
            torch.zeros(9, 6).index_add(0, rows, source),
            torch.scatter(x, 1, index, factors),
            torch.scatter_add(x, 1, index, factors.sigmoid()),
            torch.scatter_reduce(x, 2, index[:, :, :4], factors, "mean", include_self=False),
            torch.scatter_reduce(x, 0, index, factors, "amax"),
            torch.scatter_reduce(x, 1, index, factors, "prod", include_self=False),
            torch.where(mask, x, -1.0).masked_fill(mask, 2.0),
            torch.index_put(x, (mask,), torch.tensor(3.0)),
            torch.zeros(9, dtype=torch.int32).scatter_add(0, rows, across.to(torch.int32)),
        )


def get_inputs():
    return [
        torch.randn(9, 5, 4), torch.randint(0, 4, (8, 5, 4)), torch.randint(0, 9, (7,)), torch.randn(7, 6),
        torch.randint(-4, 4, (7,)), torch.randn(9, 5, 4), torch.rand(9, 5, 4) > 0.5,
    ]


def get_init_inputs():
    return []
