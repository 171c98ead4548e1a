"""The second stage of ConvNeXt V2-T, 3 layers: 96 channels of 56 x 56 to 192 of 28 x 28, 4 images."""
import torch
from torch import nn
from transformers import ConvNextV2Config, ConvNextV2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = ConvNextV2Config(num_stages=2, hidden_sizes=[96, 192], depths=[1, 3])
        self.stage = ConvNextV2Model(config).encoder.stages[1]
        for layer in self.stage.layers:  # these start at zero, where the response normalisation does nothing
            nn.init.normal_(layer.grn.weight, std=0.1)
            nn.init.normal_(layer.grn.bias, std=0.1)
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.stage(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(4, 96, 56, 56)]


def get_init_inputs() -> list:
    return []
