"""The audit on every workload in every exactness, and what it says of laws that are not true."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from planted import PLANTED, Draw, Planted, two_draws
from running import joint
from test_saturation import leaves_of, terms_of
from workloads import WORKLOADS, Workload

import saturate as sat
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


def test_draws_of_two_keys_stay_two_and_those_of_one_key_are_one() -> None:
    """An op that the package has never seen is opaque: all that is known is what its attributes say."""
    for keys, count in (((1, 2), 2), ((3, 3), 1)):
        best = sat.optimize(two_draws(keys))
        draws = [node.op for node in best.program.nodes if isinstance(node.op, Draw)]
        assert [op.key for op in draws] == sorted(set(keys))
        assert len(draws) == count
        x = np.linspace(-1.0, 1.0, 5)
        first, second = (Draw(key, 5).evaluate(np) for key in keys)
        np.testing.assert_allclose(best(x), x * first + np.tanh(x) * second, rtol=1e-12)
