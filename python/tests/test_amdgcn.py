"""What is refused in the assembly of an AMD GPU, in spellings and in what Triton compiles for one. No GPU is needed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
from conftest import ROOT

from pragma_triton import amdgcn

PLAIN = """	.text
	.globl	k
	.type	k,@function
k:                                      ; @k
	s_load_dwordx2 s[0:1], s[0:1], 0x0
	v_mov_b32_e32 v0, 0  ; s_memtime in a comment
	s_endpgm
"""

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch"
)


def test_plain_code_is_not_refused():
    assert amdgcn.complaint(PLAIN) == ""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("s_memtime s[2:3]", "look at a clock"),
        ("\ts_memrealtime s[2:3]", "look at a clock"),
        ("s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES, 0, 20)", "look at a clock"),
        (";;#ASMSTART\n\tv_mov_b32 v0, 0\n\t;;#ASMEND", "inline assembly"),
        (";#ASMSTART", "inline assembly"),
        ("\t.type\tkept,@object", "a variable of its own, kept"),
        ("\t.type kept, %object", "a variable of its own, kept"),
    ],
)
def test_what_is_refused(line, words):
    assert words in amdgcn.complaint(PLAIN + line + "\n")


COMPILE = """
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from pragma_triton import kernels

@triton.jit
def plain(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.exp(tl.load(x + at)) + tl.sum(tl.load(x + at)))

@triton.jit
def inline(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    y = tl.inline_asm_elementwise("v_mov_b32 $0, $1", "=v,v", [tl.load(x + at)], tl.float32, True, 1)
    tl.store(out + at, y)

for kernel in (plain, inline):
    source = ASTSource(kernel, {"x": "*fp32", "out": "*fp32", "N": "constexpr"}, constexprs={"N": 256})
    made = triton.compile(source, target=GPUTarget("hip", "gfx942", 64))
    print(kernel.__name__, len(made.asm["hsaco"]) > 0, kernels.complaint(made.asm) or "nothing", sep="; ")
"""


@needs_triton
def test_what_triton_compiles_for_gfx942_is_looked_at(tmp_path):
    (tmp_path / "module.py").write_text(COMPILE)  # Triton reads a kernel's source from its file
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "module.py")],
        capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "TRITON_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    plain, inline = ran.stdout.splitlines() or [ran.stderr, ""]
    assert plain == "plain; True; nothing"
    assert inline.startswith("inline; True; its device code has inline assembly")
