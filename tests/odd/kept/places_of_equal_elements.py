# solved: Which of several equal elements topk takes is not defined, and a value that belongs to its place is added up.
import torch


class Model(torch.nn.Module):
    def forward(self, x, owner):
        best, place = torch.topk(x, 5, -1)
        weight = best.sigmoid() / best.sigmoid().sum(-1, keepdim=True)
        return torch.zeros(x.shape[0], 9).scatter_add_(1, owner.gather(1, place), weight)


def get_inputs():
    return [torch.randn(40, 120), torch.randint(0, 9, (40, 120))]


def get_init_inputs():
    return []
