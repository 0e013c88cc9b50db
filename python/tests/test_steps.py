# SPDX-License-Identifier: BSD-3-Clause
"""The steps by which tools walk over variables: every cell once, in bounded memory, in whole chunks."""

from types import SimpleNamespace

import numpy as np
import pytest

from shoal._steps import item_bytes, steps
from shoal.inventory import Variable


class Cuts:
    """Of one rank of several, without making decompositions."""

    comm = SimpleNamespace(rank=0, size=3)

    def along(self, shape, axis, begin, end):
        first, counts = [0] * len(shape), list(shape)
        first[axis], counts[axis] = begin, end - begin
        return SimpleNamespace(first=tuple(first), shape=tuple(counts), axis=axis)


def variable(shape, has_record):
    dims = tuple(f"d{i}" for i in range(len(shape)))
    return Variable("v", np.dtype("f4"), dims, shape, has_record, None, "chunked", {}, 5, "none")


@pytest.mark.parametrize("has_record", [True, False])
@pytest.mark.parametrize("block", [1024, 64 * 1024, 10**9])
@pytest.mark.parametrize(
    "shape, quantum",
    [
        ((3, 7, 40, 50), None),
        ((3, 7, 400, 500), (2, 100, 500)),
        ((2, 9, 300, 400), (4, 300, 400)),
        ((2, 30, 90, 700), (30, 7, 700)),
        ((4, 5, 6), (5, 6)),
        ((2, 3, 200, 700), (1, 1, 1)),
    ],
)
def test_every_cell_once_and_whole_chunks(shape, quantum, block, has_record):
    v = variable(shape, has_record)
    if quantum is not None and not has_record:
        quantum = (2, *quantum)
    seen = np.zeros(shape, "i4")
    for step in steps(Cuts(), v, block, writing=True, quantum=quantum):
        lead = 1 if has_record else 0
        if step.record is not None and step.record < 0:
            region = (slice(None),) * len(shape)
        else:
            record = (slice(step.record, step.record + 1),) if has_record else ()
            region = (*record, *(slice(s, s + n) for s, n in zip(step.start, step.count)))
            for axis, q in enumerate(quantum or ()):
                end = step.start[axis] + step.count[axis]
                assert step.start[axis] % q == 0
                assert end % q == 0 or end == shape[lead + axis]
        assert not step.partial
        seen[region] += 1
        if quantum is None and step.record != -2:
            assert step.region_cells * item_bytes(v) <= max(block, 64 * 1024) * 3 or step.cut is None
    assert (seen == 1).all()
