"""The page docs/rules.md: every law of the catalogue, by theory, from its declaration and the tests.

Then what was not taken of the sources: the laws of `refuted` that name one, and what nothing here needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from refuted import REFUTED

from saturate import lawbook
from saturate.rules import IDENTITIES, THEORIES, Identity, Law
from saturate.rules.decision import decision

HERE = Path(__file__).parent
EVERY = ("test_laws", "test_law_command", "test_law_docs")
"""Tests that range over the whole catalogue; they are named once."""
LAW = ("law", "says", "class", "needs", "runs", "source", "also in")
IDENTITY = ("identity", "says", "in NumPy", "class", "needs", "decided by", "source")
HEAD = """# The laws

Written by `pytest tests/test_law_docs.py --regen` from the declarations in `rules/`. Letters in brackets are
indices that a variable has; any other index is allowed. *Class* is what `exact=` must admit. Each law passes
the tests of [test_laws](../tests/test_laws.py): both sides equal on samples and over a prime field where they
are rational, equal slopes, at work from its left side alone, not without a condition. *Also in* names the
tests that speak of it besides. `saturate rules NAME` shows one law with its rule and where it is used. A law
of your own: [how to add a law](how-to-add-a-law.md).

The last three theories need no law. Each *identity* is two NumPy forms of one value, and
[test_identities](../tests/test_identities.py) holds it, in several shapes and both dtypes: values and
gradients equal; one *term* or one *normal form* once axes are named, under the facts that it *needs* and no
fewer; the cheaper form found from either.

*Source* is a rule that says the same, by its name there, and after `here` what differs; the sources stand
[below](#sources). Laws of school algebra that none of them has need none.
"""
SOURCES = {
    "Herbie": "`herbie-fp/herbie`, `src/core/rules.rkt`; `-udef` in its earlier versions; "
    "`2sqrt` in `bench/hamming`",
    "XLA AlgebraicSimplifier": "`openxla/xla`, `xla/hlo/transforms/simplifiers/"
    "algebraic_simplifier.cc`, rules as its comments write them",
    "TensorRight": "`ADAPT-uiuc/TensorRight`, `rules/xla`: rules of XLA, proved over integers and reals for "
    "every rank and size",
    "TASO": "`jiazhihao/TASO`, `verify/verify.py`, the axioms by its comments",
    "SPORES": "Y. R. Wang et al., SPORES: sum-product optimization via relational equality saturation, 2020, "
    "rules by the names of its implementation",
    "JAX": "`jax/_src/lax/lax.py`",
    "NumPy": "the documentation of the function",
    "SciPy": "the documentation of the function",
    "Blanchard, Higham, Higham": "Accurately computing the log-sum-exp and softmax functions, 2021",
    "SystemDS": "`apache/systemds`, `RewriteAlgebraicSimplificationStatic.java` and `…Dynamic.java`, "
    "rewrites by the names of their methods",
    "Matrix Cookbook": "K. B. Petersen, M. S. Pedersen, The Matrix Cookbook, 2012",
    "Godbole": "S. S. Godbole, On efficient computation of matrix chain products, 1973",
    "Hendrycks, Gimpel": "Gaussian Error Linear Units, 2016",
}
"""What a law may name as its source, and where that is."""
NOT_TAKEN = (
    (
        "Herbie, commutativity and associativity; TASO, ewadd, ewmul and matmul; SPORES, swap-agg",
        "products and sums are nodes over multisets: equal by their terms",
    ),
    (
        "TASO, transpose, scalar_mul; TensorRight, Reduce(Relabel(X)), Reduce(Reduce(X)), Reduce(Dot(X,Y))",
        "axes are names of indices, products one node: equal by their terms",
    ),
    (
        "SPORES, distribute-lft-in; Herbie, distribute-lft-in, div-add, frac-add",
        "the normal form multiplies out; laws only take common factors out",
    ),
    (
        "TASO, concat and split; XLA AlgebraicSimplifier, pad, slice, gather, scatter, sort",
        "opaque: the same op on the same value is done once, and nothing else is claimed",
    ),
    (
        "TASO, concat is associative, grouped convolution",
        "kept there as comments: one makes others redundant, one is false",
    ),
    ("TASO, conv2d, pool2d, enlarge", "there are no such ops"),
    ("TENSAT, single_rules.txt", "substitutions of TASO, which its axioms prove"),
    (
        "PET, partially equivalent transformations with corrections",
        "what stands in an e-graph is equal everywhere",
    ),
    (
        "Herbie, trigonometry, cube roots, powers, copysign, inverse hyperbolic functions",
        "no workload needs them, and a law that pays nowhere fails a test",
    ),
    (
        "Herbie, sqr-abs-rev, add-log-exp, 1-exp, sinh-+-cosh-rev and other ways to make a value longer",
        "they match everywhere",
    ),
    ("Herbie, fma and prod-diff", "NumPy has no fma"),
    ("Herbie, exp-diff, div-exp", "follow from exp_of_sum and reciprocal_of_exp"),
    (
        "XLA AlgebraicSimplifier, A/sqrt(B) => A*rsqrt(B), pow(A, 2) => A*A, A / B => A >> log2(B)",
        "how a value is computed is a matter of price; squares and quotients are products here",
    ),
    (
        "XLA AlgebraicSimplifier, A + (B - A) => B, A - (A + B) => -B and the like, with fast math",
        "equal by computation, where all is finite",
    ),
    (
        "XLA AlgebraicSimplifier, max(max(x, y), y) -> max(x, y), Gt(Max(a,b), a) -> Gt(b,a)",
        "nothing here needs them",
    ),
    (
        "XLA AlgebraicSimplifier, Mul(Convert(Pred), operand) => select(pred, operand, 0)",
        "false where the operand is infinite or NaN",
    ),
    (
        "XLA AlgebraicSimplifier, ln(pow(A,B)) => B*ln(abs(A)), select(x, y, y) -> y, clamp of clamp",
        "nothing here needs them",
    ),
)
"""Rules of these sources that were looked at and not taken, and why."""


def page() -> str:
    """The page as it should be, without the newline at its end."""
    parts = [HEAD]
    for theory, laws in THEORIES.items():
        parts += [f"## {theory}\n\n{purpose(laws[0])}\n", *_head(LAW), *map(row, laws), ""]
    for theory, identities in IDENTITIES.items():
        said = f"## {theory}, without laws\n\n{purpose(identities[0])}\n"
        parts += [said, *_head(IDENTITY), *map(identity_row, identities), ""]
    return "\n".join([*parts, *_not_taken(), *_sources()]).rstrip()


def _head(columns: Sequence[str]) -> tuple[str, str]:
    return _cells(*columns), f"{'|---' * len(columns)}|"


def identity_row(identity: Identity) -> str:
    """One line of a theory that needs no law."""
    left, right = identity.texts
    sizes = dict(zip(identity.letters, lawbook.SIZES, strict=False))
    emits = f"; lowered to {', '.join(identity.emits)}" if identity.emits else ""
    without = f" without {', '.join(identity.lacks)}" if identity.lacks else ""
    return _cells(
        f"`{identity.name}`",
        identity.doc,
        f"`{left}` = `{right}`",
        identity.exact,
        "; ".join(lawbook.conditions(identity)),
        decision(identity, sizes) + emits + without,
        _plain(identity.source),
    )


def _not_taken() -> list[str]:
    """The rules of the sources that are false here as they stand, then those that nothing needs."""
    lines = [
        "## What was not taken\n",
        "Rules that are false here without a condition; each is a law of `tests/refuted.py`, and the checker "
        "rejects it with a witness.\n",
        "| rule | says | the checker |",
        "|---|---|---|",
    ]
    lines += [
        _cells(_plain(case.law.source), f"`{lawbook.formula(case.law)}`", case.says)
        for case in REFUTED
        if case.law.source
    ]
    lines += ["\nRules that are right, or that cannot be said here, and were left out.\n", "| rules | why |"]
    return [*lines, "|---|---|", *(_cells(_plain(rules), why) for rules, why in NOT_TAKEN), ""]


def _sources() -> list[str]:
    return ["## Sources\n", *(f"* {name}: {where}." for name, where in SOURCES.items())]


def _plain(text: str) -> str:
    """Text whose asterisks stay asterisks."""
    return text.replace("*", "\\*")


def _cells(*cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join(' '.join(c.split()).replace('|', chr(92) + '|') for c in cells)} |"


def row(law: Law) -> str:
    """One line of a theory's table."""
    needs = [*lawbook.conditions(law), *(["fewer indices on the right are meant"] if law.narrows else [])]
    return _cells(
        f"`{law.name}`",
        f"`{lawbook.formula(law)}`",
        law.exact,
        "; ".join(needs),
        law.direction,
        _plain(law.source),
        ", ".join(mentions(law.name)),
    )


def purpose(law: Law | Identity) -> str:
    """What opens the module of a law or an identity."""
    text = Path(law.line.rpartition(":")[0]).read_text("utf-8")
    return " ".join(text.split('"""')[1].split())


def mentions(name: str) -> tuple[str, ...]:
    """The test modules that name the law, but for those that range over every law."""
    return tuple(module for module, words in _words().items() if name in words)


@cache
def _words() -> dict[str, frozenset[str]]:
    files = sorted(HERE.glob("test_*.py"))
    return {f.stem: frozenset(re.findall(r"\w+", f.read_text("utf-8"))) for f in files if f.stem not in EVERY}
