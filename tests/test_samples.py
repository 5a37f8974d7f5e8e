from __future__ import annotations

import numpy as np
import pytest

from saturate.errors import ArgumentError
from saturate.op import AnyArray, Type
from saturate.program import Input
from saturate.samples import EXAMPLE, KINDS, Sample, samples


def one(
    kind: Type, trials: int = len(KINDS), example: AnyArray | None = None, seed: int = 0
) -> tuple[Sample, ...]:
    examples = None if example is None else [(example,)]
    found = samples([Input("x", "v0", kind)], seed, trials, examples)
    assert all(s.arrays[0].shape == kind.shape and s.arrays[0].dtype.name == kind.dtype for s in found)
    return found


def of(kind: str, found: tuple[Sample, ...]) -> AnyArray:
    return next(s.arrays[0] for s in found if s.kind == kind)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_trials_have_every_kind(dtype: str) -> None:
    found = one(Type((31, 37), dtype))
    assert tuple(s.kind for s in found) == KINDS
    assert abs(of("normal", found).astype(float).mean()) < 0.1
    assert 0.9 < of("normal", found).astype(float).std() < 1.1
    assert abs(of("offset 1e4", found).astype(float).mean() - 1e4) < 1
    assert abs(of("offset -1e4", found).astype(float).mean() + 1e4) < 1
    assert 900 < of("scale 1e3", found).astype(float).std() < 1100
    assert 90 < of("scale 1e2", found).astype(float).std() < 110
    assert 0.0009 < of("scale 1e-3", found).astype(float).std() < 0.0011
    assert set(np.unique(of("ties", found))) == {-1, -0.5, 0, 0.5, 1}
    assert not of("zeros", found).any()


def test_samples_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    kind = Type((5, 7))
    again = zip(one(kind), one(kind), strict=True)
    assert all(a.arrays[0].tobytes() == b.arrays[0].tobytes() for a, b in again)
    assert of("normal", one(kind)).tobytes() != of("normal", one(kind, seed=1)).tobytes()
    assert of("normal", one(kind)).tobytes() != one(kind, 9)[8].arrays[0].tobytes()


def test_each_input_in_turn_is_made_special_and_all_where_that_matters() -> None:
    inputs = [Input(n, n, Type((31, 37))) for n in ("x", "y", "z")]
    found = [s for s in samples(inputs, 0, 54) if s.kind == "offset -1e4"]
    moved = [tuple(bool(a.mean() < -5e3) for a in s.arrays) for s in found]
    assert all(any(m) for m in moved)
    assert {k for m in moved for k in range(3) if m[k]} == {0, 1, 2}
    assert any(not all(m) for m in moved)
    tied = next(s for s in samples(inputs) if s.kind == "ties")
    assert all(len(np.unique(a)) == 5 for a in tied.arrays)
    far = next(s for s in samples(inputs) if s.kind == "offset 1e4")
    assert all(a.mean() > 5e3 for a in far.arrays)


def test_bounds_hold_in_every_sample() -> None:
    for low, high in ((0.0, 1.0), (0.5, None), (None, -2.0), (-3.0, 5.0)):
        for sample in one(Type((31, 37), "float32", low, high), 32):
            (x,) = sample.arrays
            assert low is None or x.min() >= low
            assert high is None or x.max() <= high


def test_draws_have_the_mean_and_deviation_of_the_example() -> None:
    example = np.random.default_rng(1).normal(30.0, 7.0, (31, 37))
    x = of("normal", one(Type((31, 37)), example=example))
    assert abs(x.mean() - 30.0) < 1
    assert abs(x.std() - 7.0) < 1


def test_examples_come_first_and_as_they_are() -> None:
    example = np.arange(15.0).reshape(3, 5)
    first, second, *_ = samples([Input("x", "v0", Type((3, 5)))], 0, 1, [(example,), (-example,)])
    assert (first.kind, second.kind, str(second)) == (EXAMPLE, EXAMPLE, "example (#1)")
    np.testing.assert_array_equal(second.arrays[0], -example)
    assert not np.shares_memory(first.arrays[0], example)


def test_a_type_in_an_examples_place_says_nothing() -> None:
    inputs = [Input("x", "v0", Type((3,))), Input("y", "v1", Type((3,)))]
    found = samples(inputs, 0, 2, [(Type((3,)), np.full(3, 100.0))])
    assert [s.kind for s in found] == ["normal", "offset 1e4"]
    assert abs(found[0].arrays[1].mean() - 100) < 5
    assert abs(found[0].arrays[0].mean()) < 5


def test_where_the_example_is_positive_half_of_the_draws_are() -> None:
    example = np.random.default_rng(1).random((31, 37))
    found = [s for s in one(Type((31, 37)), 16, example) if s.kind != "zeros"]
    signs = [bool(s.arrays[0].min() >= 0) for s in found if s.kind == "ties"]
    assert sorted(signs) == [False, True]


def test_masks_of_the_example_stay_in_half_of_the_draws_and_move_in_the_others() -> None:
    example = np.where(np.tri(31, 37), 0.0, -np.inf)
    found = [np.isneginf(s.arrays[0]) for s in one(Type((31, 37)), 16, example)[1:]]
    same = [bool((m == np.isneginf(example)).all()) for m in found]
    assert same.count(True) == 8
    assert all(0.3 < m.mean() < 0.7 for m in found)
    assert all((~m).any(axis=-1).all() for m in found)


def test_positive_infinities_stay_in_place_and_nan_in_every_other_draw() -> None:
    example = np.array([[np.nan, 1.0, np.inf], [2.0, 3.0, 4.0]])
    found = [s.arrays[0] for s in one(Type((2, 3)), 8, example)[1:]]
    for x in found:
        np.testing.assert_array_equal(np.isinf(x), np.isinf(example))
    assert [bool(np.isnan(x).any()) for x in found].count(True) == 4
    assert all((np.isnan(x) <= np.isnan(example)).all() for x in found)


def test_integers_come_from_the_example_or_the_bounds() -> None:
    values = {int(v) for s in one(Type((31,), "int8")) for v in s.arrays[0]}
    assert values == {0, 1}
    bounded = {int(v) for s in one(Type((31,), "int64", -2, 3)) for v in s.arrays[0]}
    assert bounded == {-2, -1, 0, 1, 2, 3}
    drawn = {int(v) for s in one(Type((3,), "int64"), 8, np.array([2, 3, 5])) for v in s.arrays[0]}
    assert drawn == {2, 3, 5}


def test_booleans_keep_the_examples_share_and_a_true_in_each_row() -> None:
    example = np.tri(31, 37, dtype=bool)
    found = [s.arrays[0] for s in one(Type((31, 37), "bool"), 8, example)[1:]]
    assert sum(bool((x == example).all()) for x in found) == 4
    assert all(x.any(axis=-1).all() for x in found)


def test_scalars_and_empty_arrays_are_drawn() -> None:
    for shape in ((), (0,), (3, 0), (1, 1)):
        for dtype in ("float32", "int64", "bool"):
            assert len(one(Type(shape, dtype))) == len(KINDS)
            assert len(one(Type(shape, dtype), 2, np.zeros(shape, dtype))) == 3


def test_examples_that_do_not_fit_are_refused() -> None:
    inputs = [Input("x", "v0", Type((3, 5))), Input("y", "v1", Type((5,)))]
    with pytest.raises(ArgumentError) as caught:
        samples(inputs, examples=[(np.ones((3, 5)),)])
    assert str(caught.value) == "samples need examples of 2 argument(s) (x, y), got one of 1"
    with pytest.raises(ArgumentError) as caught:
        samples(inputs, examples=[(np.ones((5, 3)), np.ones(5))])
    assert str(caught.value) == "samples need an example of x of shape (3, 5), got (5, 3)"
