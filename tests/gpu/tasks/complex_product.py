"""Products of complex numbers, stored as pairs."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 300, 400


class Model(nn.Module):
    def forward(self, a, b):
        product = torch.view_as_complex(a) * torch.view_as_complex(b)
        return torch.view_as_real(product)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS, 2), torch.randn(ROWS, COLUMNS, 2)]


def get_init_inputs():
    return []
