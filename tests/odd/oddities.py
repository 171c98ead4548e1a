"""The oddities (modules.py), by kind: forms of arguments, forms of results, values, state, operators, style."""

from __future__ import annotations

import random

from modules import Draft, oddity

# Forms of the constructor's and of forward's arguments.


@oddity("init")
def init_pair(d: Draft, rng: random.Random) -> None:
    d.parameters += ["width", "*", "scale=1.0"]
    d.init += ["self.own = nn.Parameter(torch.randn(width))", "self.scale = scale"]
    d.lines.append("y = y * self.own * self.scale")
    d.init_inputs = f"[[{d.columns}], {{'scale': 0.5}}]"


@oddity("init")
def init_dict(d: Draft, rng: random.Random) -> None:
    d.parameters += ["width", "shift=0.0"]
    d.init += ["self.own = nn.Parameter(torch.randn(width))", "self.shift = shift"]
    d.lines.append("y = y + self.own + self.shift")
    d.init_inputs = f"{{'shift': 2.0, 'width': {d.columns}}}"


@oddity("init")
def init_tuple_and_text(d: Draft, rng: random.Random) -> None:
    d.parameters += ["sizes", "kind", "extra=None"]
    d.init += ["self.own = nn.Parameter(torch.randn(sizes[-1]))", "self.kind = kind"]
    d.lines.append("y = getattr(torch, self.kind)(y) + self.own")
    d.init_inputs = f"((3, {d.columns}), {rng.choice(['sin', 'cos', 'relu'])!r})"


@oddity("form")
def inputs_dict(d: Draft, rng: random.Random) -> None:
    d.inputs_form = "dict"


@oddity("form")
def inputs_tuple(d: Draft, rng: random.Random) -> None:
    d.inputs_form = "tuple"


@oddity("form")
def keyword_only(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("factor", "torch.tensor(0.5)"))
    d.keyword_only = {"factor"}
    d.lines.append("y = y * factor")


@oddity("form")
def keyword_of_any_name(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("double", f"torch.randn({d.columns})"))
    d.keyword_only = {"double"}
    d.lines.append("y = y + double")


@oddity("form")
def rest_of_arguments(d: Draft, rng: random.Random) -> None:
    d.rest = "*others"
    d.inputs += [("0", f"torch.randn({d.columns})"), ("1", f"torch.randn({d.rows}, 1)")]
    d.lines.append("y = y + others[0] * others[1]")


@oddity("nested")
def nested_list(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("parts", f"[torch.randn({d.columns}), (torch.randn({d.rows}, 1), 2)]"))
    d.lines.append("y = y + parts[0] - parts[1][0] * parts[1][1]")


@oddity("nested")
def nested_dict(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("batch", f"{{'bias': torch.randn({d.columns}), 'more': {{'gain': torch.rand({d.rows}, 1), 'none': None}}}}"))
    d.lines.append("y = y * batch['more']['gain'] + batch['bias']")


@oddity("number")
def number_input(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("power", rng.choice(["2", "0.75", "-1.5", "3"])))
    d.lines.append("y = y * power + 1")


@oddity("number")
def text_and_none_inputs(d: Draft, rng: random.Random) -> None:
    d.inputs += [("mode", repr(rng.choice(["relu", "tanh", "silu"]))), ("mask", "None"), ("flag", "True")]
    d.lines.append("y = getattr(F, mode)(y) if flag and mask is None else y")


# Forms of results.


@oddity("result")
def returns_list(d: Draft, rng: random.Random) -> None:
    d.returned = "list"
    d.extra.append(("sums", "y.sum(-1)"))


@oddity("result")
def returns_nested(d: Draft, rng: random.Random) -> None:
    d.returned = "nested"
    d.extra.append(("largest", "y.amax(-1)"))


@oddity("result")
def returns_dict(d: Draft, rng: random.Random) -> None:
    d.returned = "dict"
    d.extra += [("loss", "y.square().mean()"), ("count", "y.shape[0]"), ("none", "None")]


@oddity("result")
def returns_named_tuple(d: Draft, rng: random.Random) -> None:
    d.returned = "named"
    d.extra += [("low", "y.amin(0)"), ("scale", "0.125")]


@oddity("result")
def returns_dataclass(d: Draft, rng: random.Random) -> None:
    d.returned = "dataclass"
    d.extra += [("low", "y.amin(0)"), ("pair", "(y.sum(), 'text')")]


@oddity("result")
def returns_none_beside(d: Draft, rng: random.Random) -> None:
    d.extra.append(("cache", "None"))


@oddity("result")
def returns_operators_tuple(d: Draft, rng: random.Random) -> None:
    d.lines.append("most = y.max(-1)")
    d.extra.append(("most", "most"))


@oddity("result")
def returns_its_input(d: Draft, rng: random.Random) -> None:
    d.extra.append(("same", "x"))


@oddity("result")
def returns_scalar(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = y.square().mean()")


@oddity("result")
def returns_views(d: Draft, rng: random.Random) -> None:
    d.extra += [("turned", "y.t()"), ("part", "y[:, ::2]")]


@oddity("result")
def returns_data_number(d: Draft, rng: random.Random) -> None:
    d.extra.append(("number", "y.max().item()"))


# Values and types of inputs.


@oddity("input")
def empty_part(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("head", f"torch.zeros(0, {d.columns})"))
    d.before.append("y = torch.cat([head, y], 0)")


@oddity("input")
def empty_sums(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("head", f"torch.zeros(0, {d.columns})"))
    d.before.append("y = y + head.sum(0)")
    d.extra.append(("head", "head * 2"))


@oddity("input")
def all_empty(d: Draft, rng: random.Random) -> None:
    d.inputs[0] = ("x", f"torch.zeros({d.rows}, 0)")
    d.columns = 0


@oddity("input")
def zero_dimensions(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("gain", "torch.rand(())"))
    d.before.append("y = y * gain")


@oddity("input")
def expanded(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("row", f"torch.randn({d.columns}).expand({d.rows}, {d.columns})"))
    d.before.append("y = y + row")


@oddity("input")
def turned_round(d: Draft, rng: random.Random) -> None:
    d.inputs[0] = ("x", f"torch.randn({d.columns}, {d.rows}).t()")
    d.before.append("y = y.flip(0, 1)")


@oddity("input")
def sliced(d: Draft, rng: random.Random) -> None:
    d.inputs[0] = ("x", f"torch.randn({2 * d.rows}, {3 * d.columns})[::2, 1::3]")


@oddity("input")
def channels_last(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("image", "torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)"))
    d.init.append("self.conv = nn.Conv2d(3, 4, 3, padding=1)")
    d.extra.append(("image", "torch.relu(self.conv(image))"))


@oddity("input")
def five_dimensions(d: Draft, rng: random.Random) -> None:
    d.inputs[0] = ("x", f"torch.randn(2, 1, {d.rows}, 2, {d.columns})")
    d.before.append("y = y.sum((0, 1, 3))")


@oddity("input")
def infinities(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("odd", f"torch.tensor([float('inf'), float('-inf'), 1.0]).repeat({d.columns})[:{d.columns}]"))
    d.before.append("y = torch.minimum(y, odd.abs())")


@oddity("input")
def needs_gradient(d: Draft, rng: random.Random) -> None:
    d.inputs[0] = ("x", f"torch.randn({d.rows}, {d.columns}, requires_grad=True)")


@oddity("input")
def unused(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("never", "torch.randn(5, 6)"))


@oddity("input")
def indices(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("at", f"torch.randint(0, {d.rows}, (11,))"))
    d.before.append("y = y[at]")


@oddity("input")
def masks(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("mask", f"torch.rand({d.rows}, {d.columns}) > 0.5"))
    d.before.append("y = y.masked_fill(mask, 0.0)")


@oddity("type")
def doubles(d: Draft, rng: random.Random) -> None:
    d.inputs[0] = ("x", f"torch.randn({d.rows}, {d.columns}, dtype=torch.float64)")
    d.dtype = "torch.float32"


@oddity("type")
def halves(d: Draft, rng: random.Random) -> None:
    kind = rng.choice(["float16", "bfloat16"])
    d.inputs[0] = ("x", f"torch.randn({d.rows}, {d.columns}).to(torch.{kind})")
    d.before.append("y = y.float()")


@oddity("type")
def integers(d: Draft, rng: random.Random) -> None:
    kind = rng.choice(["int8", "int16", "int32", "int64", "uint8"])
    d.inputs[0] = ("x", f"torch.randint(0, 100, ({d.rows}, {d.columns})).to(torch.{kind})")
    d.before += ["whole = (y * 3 + 1) // 2"]
    d.before.append("y = y.float()")
    d.extra.append(("whole", "whole"))


@oddity("type")
def unsigned(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("wide", f"torch.randint(0, 100, ({d.rows}, 1)).to(torch.{rng.choice(['uint16', 'uint32'])})"))
    d.before.append("y = y + wide.float()")


@oddity("type")
def complex_input(d: Draft, rng: random.Random) -> None:
    d.inputs.append(("phase", f"torch.randn({d.columns}, dtype=torch.{rng.choice(['complex64', 'complex128'])})"))
    d.before.append("y = (y * phase).abs().float()")


@oddity("type")
def complex_inside(d: Draft, rng: random.Random) -> None:
    d.before.append("y = torch.view_as_real(torch.polar(y.abs(), y)).sum(-1)")


# State.


@oddity("state")
def changes_input(d: Draft, rng: random.Random) -> None:
    d.before.append("x.mul_(0.5)")


@oddity("state")
def changes_buffer(d: Draft, rng: random.Random) -> None:
    d.init.append(f"self.register_buffer('total', torch.zeros({d.columns}))")
    d.lines.append("self.total.add_(y.sum(0))")
    d.lines.append("y = y + self.total")


@oddity("state")
def replaces_buffer(d: Draft, rng: random.Random) -> None:
    d.init.append(f"self.register_buffer('last', torch.zeros({d.columns}))")
    d.lines += ["y = y + self.last", "self.last = y.mean(0)"]


@oddity("state")
def counts_calls(d: Draft, rng: random.Random) -> None:
    d.init.append("self.register_buffer('calls', torch.zeros((), dtype=torch.int64))")
    d.lines.append("self.calls += 1")


@oddity("state")
def running_statistics(d: Draft, rng: random.Random) -> None:
    d.init.append(f"self.norm = nn.BatchNorm1d({d.columns})")
    d.lines.append("y = self.norm(y)")


@oddity("state")
def module_state(d: Draft, rng: random.Random) -> None:
    d.head.append("SCALE = None")
    d.before += ["global SCALE", "if SCALE is None: SCALE = y.abs().max() + 1"]
    d.lines.append("y = y / SCALE")


@oddity("state")
def harmless_cache(d: Draft, rng: random.Random) -> None:
    d.head.append("MASKS = {}")
    d.before += ["if y.shape not in MASKS: MASKS[y.shape] = torch.ones(y.shape).tril()"]
    d.lines.append("y = y * MASKS[tuple(y.shape)] if tuple(y.shape) in MASKS else y")


@oddity("state")
def python_counter(d: Draft, rng: random.Random) -> None:
    d.init.append("self.seen = 0")
    d.before.append("self.seen += 1")


@oddity("state")
def hidden_memory(d: Draft, rng: random.Random) -> None:
    d.init.append("self.before = None")
    d.lines += ["y = y if self.before is None else y + self.before", "self.before = y.mean()"]


# Data, randomness and mode.


@oddity("data")
def reads_item(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = y / (1 + abs(y.abs().sum().item()))")


@oddity("data")
def branches(d: Draft, rng: random.Random) -> None:
    d.lines += ["if y.sum() > 0:", "    y = y * 2"]


@oddity("data")
def size_from_data(d: Draft, rng: random.Random) -> None:
    d.extra.append(("found", "torch.nonzero(y > 0)"))


@oddity("data")
def masked_mean(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = y - y[y > -5].mean()")


@oddity("data")
def live_dropout(d: Draft, rng: random.Random) -> None:
    d.init.append("self.drop = nn.Dropout(0.3)")
    d.lines.append("y = self.drop(y)")


@oddity("data")
def random_noise(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = y + torch.randn_like(y)")


@oddity("data")
def eval_in_constructor(d: Draft, rng: random.Random) -> None:
    d.init += ["self.drop = nn.Dropout(0.3)", "self.eval()"]
    d.lines.append("y = self.drop(y)")


@oddity("data")
def takes_a_fast_path(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = y if torch.compiler.is_exporting() else y * 2")


# Operators and numerics.


@oddity("operator")
def sorts(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = torch.sort(y, -1)[0]")


@oddity("operator")
def picks(d: Draft, rng: random.Random) -> None:
    d.extra.append(("picked", "torch.topk(y, 1, -1)[1]"))


@oddity("operator")
def transforms(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = y + torch.fft.fft(y).abs()")


@oddity("operator")
def autocast(d: Draft, rng: random.Random) -> None:
    d.init.append(f"self.low = nn.Linear({d.columns}, {d.columns})")
    d.lines += ["with torch.autocast('cpu', dtype=torch.bfloat16):", "    y = self.low(y.float()).float()"]


@oddity("operator")
def unrolled(d: Draft, rng: random.Random) -> None:
    d.lines += [f"for step in range({rng.randint(5, 20)}):", "    y = torch.tanh(y * 0.9 + 0.1)"]


@oddity("operator")
def constant_tensor(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = y + torch.tensor([0.5, -0.25])[1]")


@oddity("operator")
def scatters(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = torch.zeros_like(y).index_add_(0, torch.arange(y.shape[0]).flip(0), y)")


@oddity("operator")
def einsum(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = torch.einsum('ij,kj->ik', y, y) @ y")


@oddity("operator")
def cumulates(d: Draft, rng: random.Random) -> None:
    d.lines.append("y = torch.cumsum(y, -1) * 0.01")


@oddity("operator")
def own_function(d: Draft, rng: random.Random) -> None:
    d.head.append(
        "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a): return a * 2\n"
        "    @staticmethod\n    def backward(ctx, g): return g * 2"
    )
    d.lines.append("y = Twice.apply(y)")


# Style of the file.


@oddity("style")
def tied_weights(d: Draft, rng: random.Random) -> None:
    d.init += [
        f"self.one = nn.Linear({d.columns}, {d.columns}, bias=False)",
        f"self.two = nn.Linear({d.columns}, {d.columns}, bias=False)",
        "self.two.weight = self.one.weight",
    ]
    d.lines.append("y = self.two(torch.relu(self.one(y.float())))")


@oddity("style")
def list_of_layers(d: Draft, rng: random.Random) -> None:
    d.init.append(f"self.layers = nn.ModuleList(nn.Linear({d.columns}, {d.columns}) for _ in range(3))")
    d.lines += ["for layer in self.layers:", "    y = y + torch.relu(layer(y.float()))"]


@oddity("style")
def hooks(d: Draft, rng: random.Random) -> None:
    d.init += [
        f"self.hooked = nn.Linear({d.columns}, {d.columns})",
        "self.hooked.register_forward_hook(lambda module, given, result: result * 2)",
    ]
    d.lines.append("y = self.hooked(y.float())")


@oddity("style")
def parametrised(d: Draft, rng: random.Random) -> None:
    d.init.append(f"self.normed = nn.utils.parametrizations.weight_norm(nn.Linear({d.columns}, {d.columns}))")
    d.lines.append("y = self.normed(y.float())")


@oddity("style")
def odd_names(d: Draft, rng: random.Random) -> None:
    d.init += [
        f"self.register_parameter('namespace', nn.Parameter(torch.randn({d.columns})))",
        f"self.größe = nn.Parameter(torch.rand({d.columns}))",
    ]
    d.lines.append("y = y * self.namespace + self.größe")


@oddity("style")
def inherited(d: Draft, rng: random.Random) -> None:
    d.head.append(
        "class Base(nn.Module):\n    def shifted(self, value):\n        '''Adds one.'''\n        return value + 1"
    )
    d.base = "Base"
    d.lines.append("y = self.shifted(y)")


@oddity("style")
def tries(d: Draft, rng: random.Random) -> None:
    d.lines += ["try:", "    y = y + 1", "except ValueError:", "    pass"]


@oddity("style")
def hidden_buffer(d: Draft, rng: random.Random) -> None:
    d.init += [
        f"self.register_buffer('quiet', torch.rand({d.columns}), persistent=False)",
        f"self.plain = torch.rand({d.columns})",
    ]
    d.lines.append("y = y * self.quiet + self.plain")


@oddity("style")
def checks_and_prints(d: Draft, rng: random.Random) -> None:
    d.before += ["assert y.dim() >= 2, 'two dimensions'", "print('forward runs', y.shape)"]
