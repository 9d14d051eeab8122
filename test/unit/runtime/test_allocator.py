"""The stream-ordered allocator: peaks, blocks that are kept, blocks that wait for another stream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.runtime import Executable
from ge_dialect.runtime.allocator import (
    BLOCK,
    HOST_POOL,
    Allocator,
    Cache,
    Storage,
    block_bytes,
)

Loader = Callable[..., Executable]


@given(st.integers(1, 1 << 40))
def test_blocks_are_whole_and_at_most_an_eighth_too_large(size: int) -> None:
    block = block_bytes(size)
    assert block % BLOCK == 0
    assert size <= block
    assert block - size < max(BLOCK, size / 8 + 1)
    assert block_bytes(block) == block


def held(allocator: Allocator, size: int, pool: int) -> Storage:
    storage = allocator.new(size, pool)
    storage.holders = 1
    return storage


def test_a_block_is_used_again_on_its_stream_only() -> None:
    allocator = Allocator()
    allocator.drop(held(allocator, 1000, 0))
    held(allocator, 1024, 0)  # the same block: 1000 bytes take 1024
    assert (allocator.allocations, allocator.missed) == (2, 1)
    held(allocator, 1000, 1)
    held(allocator, 1000, HOST_POOL)
    assert allocator.missed == 3
    assert (allocator.cache.reserved, allocator.cache.reserved_host) == (2048, 1024)
    assert (allocator.peak, allocator.host_peak) == (2024, 1000)


def test_a_block_that_another_stream_reads_waits_for_a_synchronisation() -> None:
    allocator = Allocator()
    storage = held(allocator, 512, 0)
    allocator.read_on(storage, 0)
    allocator.read_on(storage, 1)
    allocator.drop(storage)
    held(allocator, 512, 0)
    assert allocator.missed == 2
    allocator.synchronised(0)
    held(allocator, 512, 0)
    assert allocator.missed == 3
    allocator.synchronised(1)
    held(allocator, 512, 0)
    assert allocator.missed == 3


def test_empty_storage_takes_no_block() -> None:
    allocator = Allocator()
    held(allocator, 0, 0)
    assert (allocator.missed, allocator.cache.reserved) == (0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_reserved_is_what_is_in_use_or_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cache = Cache()
    for _ in range(3):
        allocator = Allocator(cache)
        live: list[Storage] = []
        for _ in range(200):
            if live and rng.random() < 0.5:
                allocator.drop(live.pop(int(rng.integers(len(live)))))
            else:
                storage = held(allocator, int(rng.integers(0, 9000)), int(rng.integers(0, 2)))
                if rng.random() < 0.3:
                    allocator.read_on(storage, int(rng.integers(0, 2)))
                live.append(storage)
            if rng.random() < 0.05:
                allocator.synchronised(int(rng.integers(0, 2)))
        for storage in live:
            allocator.drop(storage)
        allocator.finish()
        assert allocator.live == 0
        assert sum(size * count for (_, size), count in cache.free.items()) == cache.reserved


CHAIN = """
ge_task.host @m streams 1 {
  %x = ge_task.input 0 name "x" : device tensor<?xf32>
  %a = ge_task.launch "Neg"(%x) -> (device tensor<?xf32>) stream 0
  %b = ge_task.launch "Neg"(%a) -> (device tensor<?xf32>) stream 0
  %c = ge_task.launch "Neg"(%b) -> (device tensor<?xf32>) stream 0
  ge_task.output 0(%c) name "c"
}"""


def test_the_second_run_finds_its_blocks(loaded: Loader) -> None:
    executable = loaded(CHAIN)
    x = np.ones(300, np.float32)
    first = executable.run([x]).report
    # The input's block serves b, as a is its last reader; that of a serves c.
    assert (first.allocations, first.cache_misses) == (4, 2)
    assert first.reserved_bytes == 2 * 1536
    again = executable.run([x]).report
    assert (again.allocations, again.cache_misses) == (4, 0)
    assert again.reserved_bytes == 2 * 1536
    larger = executable.run([np.ones(3000, np.float32)]).report
    assert larger.cache_misses == 2


def test_what_the_cache_lacks_costs_more(loaded: Loader, tmp_path: Path) -> None:
    profile = tmp_path / "p.toml"
    profile.write_text("[host]\nalloc = { fixed_us = 1.0 }\nmalloc = { fixed_us = 100.0 }\n")
    executable = loaded(CHAIN, profile=str(profile))
    x = np.ones(300, np.float32)
    assert executable.run([x]).report.host_us["malloc"] == 200
    assert "malloc" not in executable.run([x]).report.host_us
