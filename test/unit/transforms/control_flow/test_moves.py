"""Copies that happen at once, one after the other."""

from __future__ import annotations

import itertools
import random

import pytest

from ge_dialect.transforms.control_flow.moves import in_parallel


def moved(sources: list[int | None]) -> tuple[list[str], int]:
    """What the places hold afterwards, and how many values were put aside."""
    memory = [f"old {k}" for k in range(len(sources))]
    saved: list[str] = []

    def value(name: str | int) -> str:
        if isinstance(name, int):
            return memory[name]
        return saved[int(name[5:])] if name.startswith("saved") else name

    def move(place: int, name: str | int) -> None:
        memory[place] = value(name)

    def save(name: str | int) -> str | int:
        saved.append(value(name))
        return f"saved{len(saved) - 1}"

    values: list[str | int] = [f"new {k}" if x is None else x for k, x in enumerate(sources)]
    in_parallel(sources, values, move, save)
    return memory, len(saved)


def wanted(sources: list[int | None]) -> list[str]:
    return [f"new {k}" if x is None else f"old {x}" for k, x in enumerate(sources)]


def rings(sources: list[int | None]) -> int:
    """How many rings of more than one place there are."""
    found = 0
    seen: set[int] = set()
    for start in range(len(sources)):
        path: list[int] = []
        at: int | None = start
        while at is not None and at not in seen and at not in path:
            path.append(at)
            at = sources[at]
        found += at is not None and at in path and sources[at] != at
        seen.update(path)
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_all_ways_that_few_values_can_go(count: int) -> None:
    for sources in itertools.product([None, *range(count)], repeat=count):
        memory, saved = moved(list(sources))
        assert memory == wanted(list(sources)), sources
        assert saved <= rings(list(sources)), sources


def test_many_values() -> None:
    rng = random.Random(5)
    for count in (20, 200):
        for _ in range(50):
            sources = [rng.choice([None, rng.randrange(count)]) for _ in range(count)]
            memory, saved = moved(sources)
            assert memory == wanted(sources)
            assert saved <= rings(sources)
            turned = [*range(1, count), 0]
            assert moved(list(turned)) == (wanted(list(turned)), 1)
