"""Mixtral decode: one token of each of 4 rows on a cache of 256; a quarter of 8x7B's width (1024) and 6 layers."""

import copy

import torch
from transformers import AutoModelForCausalLM, DynamicCache, MixtralConfig
from transformers.modeling_outputs import MoeCausalLMOutputWithPast

ROWS, CACHED = 4, 256
CONFIG = MixtralConfig(
    vocab_size=32000, hidden_size=1024, intermediate_size=3584, num_hidden_layers=6, num_attention_heads=16,
    num_key_value_heads=4, max_position_embeddings=32768, num_local_experts=8, num_experts_per_tok=2,
    rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
)  # fmt: skip


class Decode(torch.nn.Module):
    """One step on a shallow copy of the cache: the caller's does not grow, so the call can be repeated."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, cache: DynamicCache
    ) -> MoeCausalLMOutputWithPast:
        # A layer of the cache replaces its tensors when it grows; it does not write into them.
        own = copy.copy(cache)
        own.layers = [copy.copy(layer) for layer in cache.layers]
        return self.model(input_ids=input_ids, attention_mask=attention_mask, cache=own)


def build() -> torch.nn.Module:
    return Decode(AutoModelForCausalLM.from_config(CONFIG, dtype=torch.float32)).eval()


def inputs() -> list[dict | tuple]:
    shape = (ROWS, CONFIG.num_key_value_heads, CACHED, CONFIG.hidden_size // CONFIG.num_attention_heads)
    cache = DynamicCache([(torch.randn(shape), torch.randn(shape)) for _ in range(CONFIG.num_hidden_layers)])
    ids = torch.randint(3, CONFIG.vocab_size, (ROWS, 1))
    mask = torch.ones(ROWS, CACHED + 1, dtype=torch.int64)
    return [{"input_ids": ids, "attention_mask": mask, "cache": cache}]
