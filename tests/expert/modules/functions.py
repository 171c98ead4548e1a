"""Elementary functions without a vector form, the bits of integers, and predicates."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, part, above, number, byte, shift):
        return (
            torch.asin(part) + torch.acos(part) * torch.atan(x), torch.sinh(x) - torch.cosh(x), torch.asinh(x),
            torch.acosh(above), torch.atanh(part), torch.log2(above) * torch.log10(above), torch.exp2(x),
            torch.erfc(x), torch.lgamma(above), torch.hypot(x, part), torch.copysign(above, x),
            torch.isinf(x / (part > 0)), torch.isfinite(1 / (x > 0)), torch.signbit(x),
            torch.fmax(x, part), torch.fmin(x, torch.where(x > 1, torch.nan, part)),
            number & 12 | number ^ 5, ~number, ~byte, number << shift, byte << 3, number >> shift,
            torch.arange(0.5, 3, 0.25) * 2, torch.logaddexp(x, part), torch.xlogy(x, above), torch.sinc(x),
            torch.logit(part.abs()), torch.frac(x), torch.heaviside(x, part),
            torch.floor_divide(x, above), torch.special.entr(above),
        )


def get_inputs():
    return [
        torch.randn(5, 37), torch.rand(5, 37) * 1.8 - 0.9, torch.rand(5, 37) * 4 + 1.01,
        torch.randint(-100, 100, (5, 9)), torch.randint(0, 256, (5, 9), dtype=torch.uint8), torch.randint(-2, 70, (5, 9)),
    ]


def get_init_inputs():
    return []
