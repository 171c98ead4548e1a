"""--shapes: one kernel, judged on several sizes of its task."""

import json

import pytest
from conftest import KERNELS, TASKS

SIZED = TASKS / "sized.py"


@pytest.fixture
def shapes(tmp_path):
    def write(content):
        path = tmp_path / "shapes.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_a_kernel_is_judged_on_every_shape(program, home, shapes, tmp_path):
    file = shapes([{"batch": 3, "width": 200}, {"width": 33, "held_out": True}])
    bundle = tmp_path / "evidence.json"
    ran = program.run("evaluate", SIZED, KERNELS / "sized.cpp", "--shapes", file, "--sanitize", "--bundle", bundle, "--no-compile-baseline", "--home", home, "--json", code=0)
    result = ran.json
    assert [shape["label"] for shape in result["shapes"]] == ["as written", "batch=3, width=200", "width=33"]
    assert [shape["held_out"] for shape in result["shapes"]] == [False, False, True]
    assert {shape["status"] for shape in result["shapes"]} == {"passed"}
    ratios = [shape["speedup"]["eager"]["median"] for shape in result["shapes"]]
    product = ratios[0] * ratios[1] * ratios[2]
    assert result["speedup"]["eager"]["median"] == pytest.approx(product ** (1 / 3), rel=1e-6)
    # The evidence holds the shapes: they are judged again from it alone.
    again = program.run("recheck", bundle, "--no-timing", "--home", home, "--json", code=0)
    assert again.json["verdict"] in ("confirmed", "confirmed_with_notes")


def test_a_kernel_that_is_right_for_some_sizes_only_is_rejected(program, home, shapes):
    file = shapes([{"width": 64, "batch": 5}, {"width": 97, "held_out": True}])
    ran = program.run("evaluate", SIZED, KERNELS / "one_width_only.cpp", "--shapes", file, "--no-timing", "--home", home, "--json", code=1)
    assert ran.json["status"] == "wrong_values"
    assert ran.json["reason"].startswith("on a shape that authors are not shown: ")
    assert "97" not in ran.json["reason"].split(":")[0]
    assert [shape["status"] for shape in ran.json["shapes"]] == ["passed", "passed", "wrong_values"]


@pytest.mark.parametrize(
    "content, part",
    [
        ("no json", "the file contains no shapes"),
        ([{"width": "many"}], '"width" is not an integer'),
        ([{"height": 3}], 'no line "height = ..."'),
        ([{"width": 96}], "no size differs"),
        ([{"width": -4}], "with width=-4: "),
    ],
)
def test_bad_shapes_get_one_clear_line(program, home, shapes, content, part):
    ran = program.run("evaluate", SIZED, KERNELS / "sized.cpp", "--shapes", shapes(content), "--no-timing", "--home", home)
    assert part in ran.assert_one_clear_error(2)


def test_shapes_that_are_not_there_get_one_clear_line(program, home, tmp_path):
    ran = program.run("evaluate", SIZED, KERNELS / "sized.cpp", "--shapes", tmp_path / "no.json", "--no-timing", "--home", home)
    assert "no.json" in ran.assert_one_clear_error(2)
