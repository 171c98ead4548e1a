"""A layer of GPT-NeoX (parallel residual, a quarter rotary): 768 wide, 256 tokens, two rows, padded."""
import torch
from torch import nn
from transformers import GPTNeoXConfig, GPTNeoXModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = GPTNeoXConfig(
            vocab_size=64, hidden_size=768, intermediate_size=3072, num_hidden_layers=1, num_attention_heads=12,
            attn_implementation="sdpa",
        )
        model = GPTNeoXModel(config)
        self.layer = model.layers[0]
        self.rotary = model.rotary_emb
        self.eval()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(x.shape[1], device=x.device)[None]
        return self.layer(x, attention_mask=mask, position_embeddings=self.rotary(x, positions))


def get_inputs() -> list[torch.Tensor]:
    mask = torch.ones(256, 256, dtype=torch.bool).tril().repeat(2, 1, 1, 1)
    mask[1, :, :, 200:] = False
    return [torch.randn(2, 256, 768), mask]


def get_init_inputs() -> list:
    return []
