"""Layers of which each reads all results before it: the concatenations grow from one to the next."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(6 + 4 * i, 4, 3, padding=1) for i in range(4))
        self.norms = nn.ModuleList(nn.BatchNorm2d(6 + 4 * i) for i in range(4))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = [x]
        for layer, norm in zip(self.layers, self.norms, strict=True):
            found.append(layer(norm(torch.cat(found, 1)).relu()))
        rows = torch.cat([y, y * 2], 0)
        other = torch.cat([y, y * 2, y.flip(1)], 1)  # along another dimension
        again = torch.cat([y, y * 2, rows], 0)
        return torch.cat(found, 1), torch.cat([found[0], found[2]], 1), rows.sum(1), other, again


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 6, 9, 11), torch.randn(5, 7)]


def get_init_inputs() -> list[object]:
    return []
