"""Finds forbidden contents in the assembly that Triton makes for an AMD GPU: clocks, inline assembly, variables.

It does for AMD what ptx.py does for NVIDIA. It is stricter, because this text is not parsed: inline assembly, whose
directives could hide anything, is refused as a whole.
"""

from __future__ import annotations

import re

_COMMENT = re.compile(r"//[^\n]*|;(?!;?#ASM)[^\n]*")
_INLINE = re.compile(r";;?#ASMSTART")
# Clocks, registers of the hardware (which hold cycle counters), and messages that return a clock.
_TIME = re.compile(r"\b(s_memtime|s_memrealtime|s_getreg_b32|s_sendmsg_rtn_b32|s_sendmsg_rtn_b64|s_get_shader_cycles_u64)\b")
_OBJECT = re.compile(r"^\s*\.type\s+(\S+?)\s*,\s*[@%]object\b", re.MULTILINE)


def complaint(text: str) -> str:
    """Returns a complaint of one line, or an empty string."""
    if _INLINE.search(text):
        return "its device code has inline assembly, which cannot be looked at on this device: leave it out"
    code = _COMMENT.sub("", text)
    if found := _TIME.search(code):
        return (
            f"its device code uses {found[1]}: device code may not look at a clock; a kernel computes from its "
            "arguments alone"
        )
    if found := _OBJECT.search(code):
        return (
            f"its device code has a variable of its own, {found[1][:60]}: nothing may be kept from one call to the "
            "next; use a tensor that run allocates"
        )
    return ""
