"""A polynomial with complex coefficients at complex points, real and imaginary parts interleaved."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, z, coef):
        re, im = z[..., 0].clamp(-0.7, 0.7), z[..., 1].clamp(-0.7, 0.7)
        p, q = torch.zeros_like(re), torch.zeros_like(im)
        for k in range(coef.shape[0] - 1, -1, -1):
            p, q = p * re - q * im + coef[k, 0], p * im + q * re + coef[k, 1]
        return torch.stack([p, q], -1)


def get_inputs():
    return [torch.randn(1 << 18, 2), torch.randn(32, 2)]


def get_init_inputs():
    return []
