"""HiFi-GAN, SpeechT5's vocoder (512 channels, upsampling by 4, 4, 4, 4), one log-mel of 128 frames x 80: 2 s of sound.

Weights are drawn with 0.03, not 0.01, of which the sound would be near zero.
"""

import torch
from transformers import SpeechT5HifiGan, SpeechT5HifiGanConfig

CONFIG = SpeechT5HifiGanConfig(initializer_range=0.03)


def build() -> torch.nn.Module:
    return SpeechT5HifiGan(CONFIG).eval()


def inputs() -> list[dict | tuple]:
    return [(torch.randn(1, 128, CONFIG.model_in_dim) - 2.0,)]
