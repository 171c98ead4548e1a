"""Llama decode in bfloat16: one token of each of 8 rows on a cache of 1023, with Llama-3.2-1B's sizes."""

import copy
import inspect

import torch
from transformers import AutoModelForCausalLM, DynamicCache, LlamaConfig, LlamaForCausalLM
from transformers.modeling_outputs import CausalLMOutputWithPast

ROWS, CACHED = 8, 1023
CONFIG = LlamaConfig(
    vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
    num_key_value_heads=8, max_position_embeddings=131072, rms_norm_eps=1e-5, tie_word_embeddings=True,
    bos_token_id=1, eos_token_id=2, rope_parameters={"rope_type": "default", "rope_theta": 500000.0},
)  # fmt: skip


# The name of the argument differs between releases of transformers.
TAKES = "cache" if "cache" in inspect.signature(LlamaForCausalLM.forward).parameters else "past_key_values"


class Decode(torch.nn.Module):
    """One step on a shallow copy of the cache: the caller's does not grow, so the call can be repeated."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, cache: DynamicCache
    ) -> CausalLMOutputWithPast:
        # A layer of the cache replaces its tensors when it grows; it does not write into them.
        own = copy.copy(cache)
        own.layers = [copy.copy(layer) for layer in cache.layers]
        return self.model(input_ids=input_ids, attention_mask=attention_mask, **{TAKES: own})


def build() -> torch.nn.Module:
    return Decode(AutoModelForCausalLM.from_config(CONFIG, dtype=torch.bfloat16)).eval()


def inputs() -> list[dict | tuple]:
    shape = (ROWS, CONFIG.num_key_value_heads, CACHED, CONFIG.hidden_size // CONFIG.num_attention_heads)
    made = [tuple(torch.randn(shape).to(torch.bfloat16) for _ in range(2)) for _ in range(CONFIG.num_hidden_layers)]
    ids = torch.randint(3, CONFIG.vocab_size, (ROWS, 1))
    mask = torch.ones(ROWS, CACHED + 1, dtype=torch.int64)
    return [{"input_ids": ids, "attention_mask": mask, "cache": DynamicCache(made)}]
