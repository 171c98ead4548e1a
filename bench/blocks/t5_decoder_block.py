"""A decoder block of T5 1.1, with cross attention: 768 wide, 256 tokens on 512 of the encoder, one row."""
import torch
from torch import nn
from transformers import T5Config, T5Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = T5Config(
            vocab_size=64, d_model=768, d_kv=64, d_ff=2048, num_heads=12, num_layers=1, num_decoder_layers=1,
            feed_forward_proj="gated-gelu", attn_implementation="sdpa",
        )
        self.block = T5Model(config).decoder.block[0]
        self.eval()

    def forward(self, x: torch.Tensor, mask: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
        return self.block(x, attention_mask=mask, encoder_hidden_states=encoded)[0]


def get_inputs() -> list[torch.Tensor]:
    mask = torch.full((1, 1, 256, 256), torch.finfo(torch.float32).min).triu(1)
    return [torch.randn(1, 256, 768), mask, torch.randn(1, 512, 768)]


def get_init_inputs() -> list:
    return []
