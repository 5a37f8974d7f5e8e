"""The egglog signature of terms: what laws are compiled to and the e-graph is made of; it runs nothing."""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction

_SIGNATURE = """
(datatype* (T
    (Leaf i64) (Con String BigRat IxSet MS) (Plus String MS)
    (Fn0 String String) (Fn1 String String T) (Fn2 String String T T) (Fn3 String String T T T)
    (Red String IxSet T) (Delta String i64 i64) (Ren i64 T) (Opaque i64 TS))
  (sort MS (MultiSet T)) (sort IxSet (Set i64)) (sort TS (Vec T)))
(function term (i64) T :no-merge)
(function dtype (T) String :no-merge)
(function value (T) BigRat :no-merge)
(function free (T) IxSet :merge (set-intersect old new))
(function frees (MS) IxSet :merge (set-intersect old new))
(relation mem (MS T))
(relation walk (MS MS))
(relation tail (MS T MS))
(ruleset facts)
"""

CONSTRUCTORS: dict[str, tuple[str, ...]] = {
    "Leaf": ("i64",),
    "Con": ("String", "BigRat", "IxSet", "MS"),
    "Plus": ("String", "MS"),
    "Fn0": ("String", "String"),
    "Fn1": ("String", "String", "T"),
    "Fn2": ("String", "String", "T", "T"),
    "Fn3": ("String", "String", "T", "T", "T"),
    "Red": ("String", "IxSet", "T"),
    "Delta": ("String", "i64", "i64"),
    "Ren": ("i64", "T"),
    "Opaque": ("i64", "TS"),
}

RULESETS = ("simplify", "explore", "merge_sums")
"""`simplify` runs until nothing changes, `explore` a round at a time, `merge_sums` after two factorings."""

INDEX_SCALE = 4096
"""An index is the number size · INDEX_SCALE + ordinal."""


def signature(lenient: bool = False) -> str:
    """The signature as egglog text; a lenient one keeps the first of two dtypes or constants of one class."""
    text = _SIGNATURE
    for function in ("dtype (T) String", "value (T) BigRat") if lenient else ():
        text = text.replace(f"(function {function} :no-merge)", f"(function {function} :merge old)")
    return text


def rational(k: Fraction) -> str:
    """A fraction as egglog text."""
    return f'(bigrat (from-string "{k.numerator}") (from-string "{k.denominator}"))'


def statements(text: str) -> list[str]:
    """Top-level s-expressions; egglog parses one big text in quadratic time."""
    found, depth, start = [], 0, 0
    for k, c in enumerate(text):
        if c == "(":
            if depth == 0:
                start = k
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                found.append(text[start : k + 1])
    return found


def arguments(node: str) -> tuple[str, str]:
    """The constructor of an s-expression and the text of its arguments."""
    name, _, rest = node[1:-1].strip().partition(" ")
    return name, rest.strip()


def applications(text: str, names: Container[str]) -> list[str]:
    """Every application of one of the functions inside egglog text, outer ones before inner ones."""
    found = []
    for k, c in enumerate(text):
        if c == "(":
            depth, end = 0, k
            for end in range(k, len(text)):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                if depth == 0:
                    break
            node = text[k : end + 1]
            if arguments(node)[0] in names:
                found.append(node)
    return list(dict.fromkeys(found))
