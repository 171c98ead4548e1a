"""Whisper base's encoder (6 layers of 512, 8 heads), one log-mel of 80 x 3000 frames (30 s), so 1500 positions."""

import torch
from transformers import WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder

CONFIG = WhisperConfig(
    d_model=512, encoder_layers=6, encoder_attention_heads=8, encoder_ffn_dim=2048,
    decoder_layers=6, decoder_attention_heads=8, decoder_ffn_dim=2048,
)  # fmt: skip


def build() -> torch.nn.Module:
    return WhisperEncoder(CONFIG).eval()


def inputs() -> list[dict | tuple]:
    # Whisper's features are the log-mel clamped to eight decades below its maximum, then (x + 4) / 4.
    frames = 2 * CONFIG.max_source_positions
    return [{"input_features": (0.4 * torch.randn(1, CONFIG.num_mel_bins, frames)).clamp(-0.5, 1.5)}]
