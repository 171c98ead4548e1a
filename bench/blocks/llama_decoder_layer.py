"""A decoder layer of Llama: 768 wide, 512 tokens, one row."""
import torch
from torch import nn
from transformers import LlamaConfig, LlamaModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = LlamaConfig(
            vocab_size=64, hidden_size=768, intermediate_size=2048, num_hidden_layers=1, num_attention_heads=12,
            num_key_value_heads=4, initializer_range=0.04, attn_implementation="sdpa",
        )
        model = LlamaModel(config)
        self.layer = model.layers[0]
        self.rotary = model.rotary_emb
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(x.shape[1], device=x.device)[None]
        return self.layer(x, position_embeddings=self.rotary(x, positions))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 512, 768)]


def get_init_inputs() -> list:
    return []
