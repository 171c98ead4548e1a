"""Writes the C++ of a kernel's operator: the function that Torch calls, which checks its tensors and calls the kernel.

It uses Torch's stable interface only (torch/csrc/stable), so that a library which was built with one release of Torch is
loaded by later ones. Every message that it throws has the form `pragma_kernels: REASON: what was found`. The run time
(pragma_kernels/installed.py) takes REASON from it and calls the original forward.
"""

from __future__ import annotations

import keyword
from typing import Any

from pragma_model.operator_parts import CALL, DROP_LIST, DROP_TENSORS, HEAD, PACKING, REGISTRATION

# Torch refuses operators of more than 64 arguments. One that would come near takes a single list of tensors.
_MOST_ARGUMENTS = 60
# Words that Torch's parser of schemas takes for its own.
_SCHEMA_WORDS = {"self", "Tensor", "int", "float", "bool", "str", "Device", "inf", "nan"}


def operator_text(kernel: dict[str, Any], threads: int) -> str:
    """Returns the whole source file. `threads` is the number for which the kernel was verified."""
    arguments, outputs = kernel["arguments"], kernel["outputs"]
    packed = kernel["packed_bytes"] > 0
    parts = [
        HEAD.format(name=kernel["name"], threads=threads, scratch_bytes=kernel["scratch_bytes"]),
        _prototypes(arguments, outputs, packed),
        "namespace {\n",
        _specs("kArguments", arguments),
        _specs("kOutputs", outputs),
        PACKING.format(packed_bytes=kernel["packed_bytes"], **_prepare(arguments)) if packed else "",
        CALL.format(**_call(kernel, packed)),
        REGISTRATION.format(
            name=kernel["name"], schema=schema(kernel), drop=DROP_LIST if takes_list(kernel) else DROP_TENSORS
        ),
    ]
    return "\n".join(part for part in parts if part)


def takes_list(kernel: dict[str, Any]) -> bool:
    """Returns whether the operator takes its tensors as one list."""
    return len(kernel["arguments"]) > _MOST_ARGUMENTS


def schema(kernel: dict[str, Any]) -> str:
    """Returns the operator's schema, such as `k1(Tensor x, Tensor w) -> (Tensor, Tensor)`."""
    names = ", ".join(f"Tensor {_plain_name(a['name'])}" for a in kernel["arguments"])
    if takes_list(kernel):
        names = "Tensor[] tensors"
    count = len(kernel["outputs"])
    results = "Tensor" if count == 1 else "(" + ", ".join(["Tensor"] * count) + ")"
    return f"{kernel['name']}({names}) -> {results}"


def _plain_name(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) or name in _SCHEMA_WORDS else name


def _prototypes(arguments: list[dict[str, Any]], outputs: list[dict[str, Any]], packed: bool) -> str:
    passed = ["const void*"] * len(arguments) + ["void*"] * len(outputs)
    passed += (["const void*"] if packed else []) + ["void*"]
    text = f'extern "C" void pragma_kernel({", ".join(passed)});\n'
    if packed:
        prepared = ["const void*"] * len(_parameters(arguments)) + ["void*"]
        text += f'extern "C" void pragma_prepare({", ".join(prepared)});\n'
    return text


def _parameters(arguments: list[dict[str, Any]]) -> list[int]:
    """Returns the numbers of the arguments that pragma_prepare takes: all that are no inputs."""
    return [i for i, a in enumerate(arguments) if a["role"] != "input"]


def _specs(table: str, specs: list[dict[str, Any]]) -> str:
    """Returns a table with the name, type and sizes of each tensor."""
    lines = [
        f'    {{"{spec["name"]}", &aoti_torch_dtype_{spec["dtype"]}, "{spec["dtype"]}", '
        f"{{{', '.join(str(n) for n in spec['shape'])}}}}},"
        for spec in specs
    ]
    return "\n".join([f"const std::array<Spec, {len(specs)}> {table}{{{{", *lines, "}};", ""])


def _prepare(arguments: list[dict[str, Any]]) -> dict[str, str]:
    places = _parameters(arguments)
    return {
        "parameters": ", ".join(str(i) for i in places),
        "count": str(len(places)),
        "pointers": "".join(f"values[{n}].data, " for n in range(len(places))),
    }


def _call(kernel: dict[str, Any], packed: bool) -> dict[str, str]:
    arguments, outputs = kernel["arguments"], kernel["outputs"]
    listed = takes_list(kernel)
    given = [f"tensors[{i}]" if listed else f"a{i}" for i in range(len(arguments))]
    parameters = ["std::vector<Tensor> tensors"] if listed else [f"const Tensor& {name}" for name in given]
    check = f'  if (tensors.size() != {len(arguments)}) Refuse("arguments", "another number of tensors");\n'
    kinds = ["Tensor"] * len(outputs)
    made = [f"Made o{i} = New(kOutputs[{i}]);" for i in range(len(outputs))]
    pointers = [f"values[{i}].data" for i in range(len(arguments))] + [f"o{i}.data" for i in range(len(outputs))]
    if packed:
        pointers.append("packed.get()")
    results = ", ".join(f"std::move(o{i}.tensor)" for i in range(len(outputs)))
    return {
        "result": kinds[0] if len(outputs) == 1 else f"std::tuple<{', '.join(kinds)}>",
        "parameters": ", ".join(parameters),
        "check": check if listed else "",
        "values": ", ".join(f"Ready({name}, kArguments[{i}])" for i, name in enumerate(given)),
        "count": str(len(arguments)),
        "packed": "  const std::shared_ptr<std::byte> packed = PackedFor(values.data());\n" if packed else "",
        "made": "\n".join("  " + line for line in made),
        "pointers": ", ".join([*pointers, "Scratch()"]),
        "returned": results if len(outputs) == 1 else f"{{{results}}}",
    }
