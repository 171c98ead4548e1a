"""A layer of BERT: 768 wide, 256 tokens, two rows, the second padded after 200."""
import torch
from torch import nn
from transformers import BertConfig, BertModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(vocab_size=64, num_hidden_layers=1, attn_implementation="sdpa")
        self.layer = BertModel(config).encoder.layer[0]
        self.eval()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layer(x, attention_mask=mask)


def get_inputs() -> list[torch.Tensor]:
    mask = torch.zeros(2, 1, 256, 256)
    mask[1, :, :, 200:] = torch.finfo(torch.float32).min
    return [torch.randn(2, 256, 768), mask]


def get_init_inputs() -> list:
    return []
