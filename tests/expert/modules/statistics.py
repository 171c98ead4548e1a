"""Statistics of normalisations, in training as well; rows that a mask takes; and reductions of nothing."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(6) + 0.5)
        self.bias = nn.Parameter(torch.randn(6))

    def forward(self, x, rows, mask, values, pooled):
        layer, mean, inverse = torch.native_layer_norm(x, (5, 7), None, None, 1e-5)
        group, group_mean, group_inverse = torch.native_group_norm(x, self.weight, self.bias, 4, 6, 35, 2, 1e-5)
        batch, batch_mean, batch_inverse = torch.native_batch_norm(x, self.weight, self.bias, None, None, True, 0.1, 1e-5)
        scattered = rows.masked_scatter(mask[:, None], values)
        most, places = F.max_pool2d(pooled, 3, 2, 1, return_indices=True)
        back = torch.ops.aten.max_pool2d_with_indices_backward(most, pooled, [3, 3], [2, 2], [1, 1], [1, 1], False, places)
        nothing = x.sum() + torch.addmm(self.bias, rows[:, :0], values[:0].view(0, 1).expand(0, 6)).sum()
        return layer, mean, inverse, group, group_mean, group_inverse, batch, batch_mean, batch_inverse, scattered, back, nothing


def get_inputs():
    mask = torch.rand(40) < 0.5
    return [torch.randn(4, 6, 5, 7), torch.randn(40, 9), mask, torch.randn(40 * 9), torch.randn(2, 3, 17, 13)]


def get_init_inputs():
    return []
