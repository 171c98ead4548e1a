"""A decoder block of DAC (snake, transposed convolution, dilated units): 384 channels to 192, 512 frames."""
import torch
from torch import nn
from transformers import DacConfig, DacModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = DacConfig(downsampling_ratios=[2, 4, 8], decoder_hidden_size=768, n_codebooks=1)
        self.block = DacModel(config).decoder.block[1]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 384, 512)]


def get_init_inputs() -> list:
    return []
