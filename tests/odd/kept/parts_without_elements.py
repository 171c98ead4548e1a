# solved: one argument has no elements, and sums and concatenations read it.
import torch


class Model(torch.nn.Module):
    def forward(self, head, tail):
        return torch.cat([head, tail], 0).relu(), head.sum(0) + tail[0], head * 2


def get_inputs():
    return [torch.zeros(0, 48), torch.randn(70, 48)]


def get_init_inputs():
    return []
