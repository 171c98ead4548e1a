# solved: forward changes an input and a buffer, and returns a dict with a named tuple, None and a number.
import collections

import torch

Pair = collections.namedtuple("Pair", "low high")


class Model(torch.nn.Module):
    def __init__(self, width, *, start=0.0):
        super().__init__()
        self.register_buffer("total", torch.full((width,), start))

    def forward(self, x, *, scale):
        x.mul_(0.5)
        self.total.add_(x.sum(0) * scale)
        return {"pair": Pair(x.amin(1), x.amax(1)), "none": None, "rows": x.shape[0], "total": self.total * 2}


def get_inputs():
    return {"x": torch.randn(64, 48), "scale": torch.tensor(0.3)}


def get_init_inputs():
    return [[48], {"start": 1.0}]
