# refused: the exported graph is not what forward computes.
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2 if torch.compiler.is_exporting() else x * 3


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return []
