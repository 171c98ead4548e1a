"""Loops over time that torch.export unrolls: states of several kinds, and what is read and kept in each step."""
import torch
import torch.nn as nn

STEPS = 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(20, 24)
        self.gru = nn.GRUCell(20, 24)
        self.mix = nn.Linear(24, 24)

    def forward(self, x, start, decay, gates, wide):
        results = []
        # A decayed sum, joined along each dimension.
        state, steps = torch.zeros_like(start), []
        for t in range(STEPS):
            state = state * torch.sigmoid(decay) + x[:, t]
            steps.append(torch.tanh(state))
        results += [torch.stack(steps, 0), torch.stack(steps, 1), torch.stack(steps, -1), torch.cat(steps, 1), state]
        # Backwards in time; only the last state is used.
        state = start
        for t in reversed(range(STEPS)):
            state = torch.relu(state - 0.5 * x[:, t]) + decay
        results.append(state)
        # Two states that need each other's old values, and one that lags behind.
        one, two, late = start, start * 2, start
        pairs = []
        for step in x.unbind(1):
            one, two, late = torch.cos(two) + step, torch.sin(one) - step, one
            pairs.append(one + late)
        results += [torch.stack(pairs, 1), two]
        # A state that is read at other places than it is written to, and windows of the input.
        state, steps = start, []
        for t in range(STEPS - 2):
            state = torch.roll(state, 1, -1) * 0.5 + x[:, t : t + 3].mean(1)
            steps.append(state.flip(-1))
        results.append(torch.stack(steps, 1))
        # Sums over the batch: no row is computed alone.
        state, steps = start, []
        for t in range(STEPS):
            state = state * 0.9 + (state * gates[:, t, :1]).sum(0, keepdim=True) + x[:, t]
            steps.append(state.amax(-1))
        results.append(torch.stack(steps, 1))
        # Cells with weights.
        hidden = memory = x.new_zeros(3, 24)
        steps = []
        for t in range(STEPS):
            hidden, memory = self.lstm(x[:, t], (hidden, memory))
            steps.append(hidden)
        results += [torch.stack(steps, 1), memory]
        hidden, steps = x.new_zeros(3, 24), []
        for t in range(STEPS):
            hidden = self.gru(x[:, t], hidden)
            steps.append(torch.softmax(self.mix(hidden), -1))
        results.append(torch.stack(steps, 1))
        # A matrix as the state, written in place to a result of the whole length.
        state = x.new_zeros(3, 20, 5)
        out = x.new_zeros(3, STEPS, 5)
        for t in range(STEPS):
            state = state * torch.exp(-gates[:, t, :1, None] ** 2) + x[:, t, :, None] * gates[:, t, None, :]
            out[:, t] = (state * x[:, t, :, None]).sum(1)
        results += [out, state]
        # Integers, and a state that decides.
        count, steps = torch.zeros_like(start, dtype=torch.int64), []
        for t in range(STEPS):
            count = torch.where(x[:, t] > 0, count + 1, 0)
            steps.append(count)
        results.append(torch.stack(steps, 1))
        # Enough for threads, which share the rows, or the channels of one row.
        for rows in (4, 1):
            state, steps = wide.new_zeros(rows, wide.shape[2]), []
            for t in range(STEPS):
                state = torch.tanh(state + wide[:rows, t]) * 0.5
                steps.append(state * wide[:rows, 0])
            results += [torch.stack(steps, 1), state]
        return results


def get_inputs():
    wide = torch.randn(4, STEPS, 4096)
    return [torch.randn(3, STEPS, 20), torch.randn(3, 20), torch.randn(20), torch.randn(3, STEPS, 5), wide]


def get_init_inputs():
    return []
