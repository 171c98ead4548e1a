"""The loop of a user's calls: what is still there while the next call runs."""

from __future__ import annotations

import weakref

from pragma_torch.loop import last_of_loop


class Result:
    pass


def test_each_result_but_the_last_is_dropped_before_the_next_call():
    alive: list[weakref.ref] = []

    def model(name: str) -> Result:
        assert name == "a" and not any(result() for result in alive)
        result = Result()
        alive.append(weakref.ref(result))
        return result

    last = last_of_loop((model, ["a"]), 3)
    assert len(alive) == 3 and last is alive[-1]()


def test_a_single_call():
    assert last_of_loop((lambda x: x + 1, [1]), 1) == 2
