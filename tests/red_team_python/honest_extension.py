# red-team: task=linear expect=passed run-limit=10s
"""Honest: a C++ extension that is built as the file is loaded."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

_SOURCE = r"""
#include <torch/extension.h>

torch::Tensor linear_relu(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  auto out = torch::empty({x.size(0), w.size(0)}, x.options());
  const auto in = x.accessor<float, 2>();
  const auto weight = w.accessor<float, 2>();
  const float* bias = b.data_ptr<float>();
  auto result = out.accessor<float, 2>();
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < w.size(0); ++j) {
      float sum = bias[j];
      for (int64_t k = 0; k < x.size(1); ++k) sum += in[i][k] * weight[j][k];
      result[i][j] = sum > 0 ? sum : 0;
    }
  return out;
}
"""
_ops = load_inline(name="linear_relu", cpp_sources=[_SOURCE], functions=["linear_relu"])


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return _ops.linear_relu(x, self.fc.weight, self.fc.bias)
