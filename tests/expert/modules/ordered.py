"""Sorting, the first of a line, running extremes and searches: along each dimension and for each kind of number."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, long_line, wide, numbers, small, edges, values):
        ordered, places = torch.sort(x, dim=1, descending=True, stable=True)
        long_ordered, long_places = torch.sort(long_line, stable=True)
        best, best_places = torch.topk(wide, 7, dim=-1)
        least, least_places = torch.topk(wide, 3, dim=0, largest=False)
        third, third_place = torch.kthvalue(x, 3, dim=2, keepdim=True)
        highest, highest_place = torch.cummax(x, dim=1)
        lowest, lowest_place = torch.cummin(numbers, dim=0)
        return (
            ordered.exp(), places, long_ordered, long_places, best, best_places, least, least_places,
            third, third_place, highest, highest_place, lowest, lowest_place,
            torch.argsort(numbers, dim=-1, stable=True), torch.sort(small, stable=True)[1],
            torch.searchsorted(edges, values), torch.bucketize(values, edges[0], right=True),
        )


def get_inputs():
    return [
        torch.randn(3, 11, 5), torch.randn(1, 1000), torch.randn(9, 600), torch.randint(-50, 50, (6, 8)),
        torch.randint(-4, 4, (2, 700)).to(torch.int8), torch.sort(torch.randn(3, 17))[0], torch.randn(3, 9),
    ]


def get_init_inputs():
    return []
