"""tools/take_out_rules.py: what its list is checked for, without building anything."""

import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import take_out_rules  # noqa: E402

RULES = take_out_rules.read_rules()


def test_each_layer_has_a_rule_and_each_rule_is_found():
    assert take_out_rules.complaints(RULES) == []


def test_a_layer_without_a_rule_is_named():
    without = [rule for rule in RULES if rule.layer != "hard bound"]
    assert take_out_rules.complaints(without) == ["no rule for the layer: hard bound"]


def test_a_rule_whose_code_has_changed_is_named():
    moved = dataclasses.replace(RULES[0], find="what no source says")
    assert take_out_rules.complaints([moved, *RULES]) == [f"{moved.name}: its code occurs 0 times in {moved.file}"]


def test_a_rule_of_no_layer_is_named():
    lost = dataclasses.replace(RULES[0], layer="good luck")
    assert take_out_rules.complaints([lost, *RULES]) == [f"{lost.name}: docs/trust.md has no layer 'good luck'"]
