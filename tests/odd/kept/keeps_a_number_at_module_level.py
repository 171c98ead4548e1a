# refused: later results depend on what the first call kept.
import torch

SCALE = None


class Model(torch.nn.Module):
    def forward(self, x):
        global SCALE
        if SCALE is None:
            SCALE = x.abs().max().item()
        return x / SCALE


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return []
