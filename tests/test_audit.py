"""The audit on every workload in every exactness, and what it says of laws that are not true."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from planted import PLANTED, Planted
from running import joint
from test_saturation import leaves_of, terms_of
from workloads import WORKLOADS, Workload

from saturate import saturation
from saturate.audit import audit, unreached
from saturate.blame import blame
from saturate.op import AnyArray
from saturate.rules import BOUNDED, CATALOGUE, EXACTNESS, Law
from saturate.saturation import Limits


def admitted(exact: str) -> list[Law]:
    return [law for law in CATALOGUE if EXACTNESS.index(law.exact) <= EXACTNESS.index(exact)]


@pytest.mark.parametrize("exact", EXACTNESS)
@pytest.mark.parametrize("load", WORKLOADS, ids=lambda load: load.name)
def test_no_law_is_false_on_a_workload(load: Workload, exact: str) -> None:
    """No workload has an erf, so that even `bounded` laws, all of that theory, change nothing here."""
    program = joint(load)
    found = saturation.saturate(terms_of(program), [], admitted(exact), Limits(nodes=2000, rounds=4))
    arrays = leaves_of(program)
    assert [str(d) for d in audit(found.classes, arrays)] == []
    assert unreached(found.classes, arrays) == []


def test_the_bounded_laws_are_those_of_the_error_function() -> None:
    assert [law.name for law in CATALOGUE if law.exact == BOUNDED] == ["erf_is_nearly_a_tanh"]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.law.name)
def test_a_planted_law_is_named_with_what_it_was_applied_to_and_a_small_input(planted: Planted) -> None:
    program = planted.program()
    laws = [*admitted("rounding"), planted.law]
    arrays: Mapping[str, AnyArray] = leaves_of(program)
    if planted.zeros:
        arrays = {name: np.where(np.arange(a.size) == 1, 0.0, a) for name, a in arrays.items()}
    limits = Limits(rounds=2, nodes=500)
    assert str(blame(terms_of(program), laws, limits, arrays)) == planted.says
    assert blame(terms_of(program), laws[:-1], limits, arrays) is None
