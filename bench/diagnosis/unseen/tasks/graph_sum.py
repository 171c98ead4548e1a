"""Weighted sums over the neighbours in a graph whose nodes are numbered by degree, hubs first."""
import torch
import torch.nn as nn

NODES = 4096


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        degrees = (NODES / torch.arange(1, NODES + 1)).long().clamp(min=2)
        self.register_buffer("ends", degrees.cumsum(0))

    def forward(self, x, neighbours, weights):
        edge = torch.arange(neighbours.shape[0], device=x.device)
        row = torch.bucketize(edge, self.ends, right=True)
        return torch.zeros_like(x).index_add(0, row, x[neighbours] * weights[:, None])


def get_inputs():
    edges = int((NODES / torch.arange(1, NODES + 1)).long().clamp(min=2).sum())
    return [torch.randn(NODES, 64), torch.randint(0, NODES, (edges,)), torch.rand(edges)]


def get_init_inputs():
    return []
