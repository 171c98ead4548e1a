"""Fourier transforms of many lengths and along several dimensions, and what modules do with them: spectrograms, filters."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.filter = nn.Parameter(torch.randn(1, 3, 100))

    def forward(self, x, y, plane, real, imag, wide):
        spectrogram = torch.stft(x, 64, hop_length=16, window=self.window, return_complex=True).abs()
        length = x.shape[-1] + 100
        filtered = torch.fft.irfft(torch.fft.rfft(y, length) * torch.fft.rfft(self.filter, length), length)
        mixed = torch.fft.fft(torch.fft.fft(plane, dim=-1), dim=-2).real
        turned = torch.fft.ifft2(torch.complex(real, imag), norm="ortho")
        return (
            spectrogram,
            filtered,
            mixed,
            torch.view_as_real(turned),
            torch.fft.rfft(plane, dim=1).imag,
            torch.fft.irfft(torch.complex(real, imag), n=27, dim=1),
            torch.fft.rfftn(plane, dim=(1, 2)).abs(),
            torch.fft.hfft(torch.complex(real, imag), norm="forward"),
            torch.view_as_real(torch.fft.rfft(wide)),
        )


def get_inputs():
    return [
        torch.randn(2, 400),
        torch.randn(2, 3, 400),
        torch.randn(3, 35, 22),
        torch.randn(4, 15, 26),
        torch.randn(4, 15, 26),
        torch.randn(5, 243, dtype=torch.float64),
    ]


def get_init_inputs():
    return []
