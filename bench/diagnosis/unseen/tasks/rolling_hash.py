"""A polynomial hash, modulo 2 ** 64, of each row of tokens."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, tokens):
        powers = torch.full((tokens.shape[1] - 1,), 1099511628211, dtype=torch.int64, device=tokens.device).cumprod(0)
        powers = torch.cat([powers.flip(0), torch.ones_like(powers[:1])])
        return (tokens.long() * powers).sum(1)


def get_inputs():
    return [torch.randint(0, 50000, (512, 1024), dtype=torch.int32)]


def get_init_inputs():
    return []
