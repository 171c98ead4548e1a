"""The convolutions of wav2vec 2.0 on the waveform: 512 channels, 7 layers, a second at 16 kHz."""
import torch
from torch import nn
from transformers import Wav2Vec2Config, Wav2Vec2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = Wav2Vec2Config(num_hidden_layers=1, attn_implementation="sdpa")
        self.encoder = Wav2Vec2Model(config).feature_extractor
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.encoder(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 16000)]


def get_init_inputs() -> list:
    return []
