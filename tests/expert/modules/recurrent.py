"""Recurrent networks: layers, directions, either order of batch and time, with and without biases."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(9, 17, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(9, 20, 2)
        self.plain = nn.RNN(9, 6, bidirectional=True, bias=False)
        self.cut = nn.RNN(9, 6, nonlinearity="relu", batch_first=True)

    def forward(self, x, hidden, memory):
        states, (last, kept) = self.lstm(x, (hidden, memory))
        gated, gates = self.gru(x)
        return states, last, kept, gated[-1], gates, self.plain(x)[1], self.cut(x)[0][:, -1]


def get_inputs():
    return [torch.randn(4, 7, 9), torch.randn(4, 4, 17), torch.randn(4, 4, 17)]


def get_init_inputs():
    return []
