"""What the e-graph works out of every class, as egglog text over the signature; it runs nothing."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from saturate.bounds import RANGES
from saturate.facts import BY_FUNCTION, FACTS, WALKED
from saturate.signature import CONSTRUCTORS, rational


@cache
def analyses() -> str:
    """Free indices, dtype, constants, bounds, shares and the facts of `saturate.facts` of what rules make."""
    lines = [f"(relation {fact} (T))" for fact in FACTS]
    for walked in (*(f"{fact}s" for fact in WALKED), "signs"):
        lines.append(f"(relation {walked} (MS))\n({walked} (multiset-of))")
    for name, sorts in CONSTRUCTORS.items():
        lines.append(f"(function from-{name} ({' '.join(sorts)}) String :merge old)")
    members = """
(rule ((= e (Con d k s M))) ((walk M M) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Plus d M))) ((walk M M) (set (dtype e) d)) :ruleset facts)
(rule ((walk M R) (> (multiset-length R) 0))
      ((tail R (multiset-pick R) (multiset-remove R (multiset-pick R)))) :ruleset facts)
(rule ((walk M R) (tail R x Q)) ((mem M x) (walk M Q)) :ruleset facts)
(set (frees (multiset-of)) (set-empty))
(rule ((tail R x Q) (= f (frees Q)) (= fx (free x))) ((set (frees R) (set-union f fx))) :ruleset facts)
(rule ((= e (Con d k s M)) (= f (frees M))) ((set (free e) (set-diff f s))) :ruleset facts)
(rule ((= e (Plus d M)) (= f (frees M))) ((set (free e) f)) :ruleset facts)
(rule ((= e (Con d k s M)) (= (multiset-length M) 0) (= (set-length s) 0)) ((set (value e) k)) :ruleset facts)
(rule ((= e (Fn1 f d x)) (= s (free x))) ((set (free e) s) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Fn2 f d x y)) (= s (free x)) (= t (free y)))
      ((set (free e) (set-union s t)) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Fn3 f d x y z)) (= s (free x)) (= t (free y)) (= u (free z)))
      ((set (free e) (set-union s (set-union t u))) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Red r s x)) (= f (free x)) (= d (dtype x)))
      ((set (free e) (set-diff f s)) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Con d k s M)) (>= k (bigrat (bigint 0) (bigint 1))) (signs M)) ((nonneg e)) :ruleset facts)
(rule ((= e (Con d k s M)) (finites M)) ((finite e)) :ruleset facts)
(rule ((= e (Con d k s M)) (!= k (bigrat (bigint 0) (bigint 1))) (nonzeros M) (= (set-length s) 0))
      ((nonzero e)) :ruleset facts)
(rule ((= e (Con d k s M)) (!= k (bigrat (bigint 0) (bigint 1))) (nonzeros M) (signs M))
      ((nonzero e)) :ruleset facts)
(rule ((= e (Plus d M)) (finites M)) ((finite e)) :ruleset facts)
(rule ((= e (Plus d M)) (nonnegs M)) ((nonneg e)) :ruleset facts)
(rule ((= e (Plus d M)) (nonnegs M) (mem M x) (nonzero x)) ((nonzero e)) :ruleset facts)
(rule ((tail R x Q) (nonneg x) (signs Q)) ((signs R)) :ruleset facts)
(rule ((tail R x Q) (tail Q x P) (signs P)) ((signs R)) :ruleset facts)
"""
    for fact in WALKED:
        members += f"""
(rule ((tail R x Q) ({fact} x) ({fact}s Q)) (({fact}s R)) :ruleset facts)
"""
    for fact in FACTS:
        members += f"""
(rule ((= e (Red r s x)) ({fact} x)) (({fact} e)) :ruleset facts)
(rule ((= e (Ren n x)) ({fact} x)) (({fact} e)) :ruleset facts)
"""
    for name, steps in BY_FUNCTION.items():
        for step in steps:
            needs = " ".join(f"({n} x)" for n in step.needs)
            lines.append(f'(rule ((= e (Fn1 "{name}" d x)) {needs}) (({step.result} e)) :ruleset facts)')
    return "\n".join(lines) + members + _choices_text() + _constants_text() + _bounds_text() + _UNITS


@cache
def contradictions() -> str:
    """Rules that stop where facts of one class contradict each other; what looks at an e-graph runs them.

    An optimizer does not: what examples show of values is no proof, and its check decides.
    """
    zero = rational(Fraction(0))
    found = [
        (f"(nonneg e) (= h (high e)) (< h {zero})", "what is negative with what is nowhere negative"),
        (f"(nonzero e) (= v (value e)) (= v {zero})", "zero with what is nowhere zero"),
        ("(integer e) (= v (value e)) (!= v (floor v))", "a fraction with what is whole"),
        ("(binary e) (= v (value e)) (!= (* v v) v)", "another number with what is 0 or 1"),
    ]
    for literal in ("inf", "-inf", "nan"):
        found.append((f'(finite e) (= e (Fn0 "literal:{literal}" d))', "what is not finite with what is"))
    return "\n".join(
        f'(rule ({facts}) ((panic "Illegal merge of {what}")) :ruleset facts)' for facts, what in found
    )


def _choices_text() -> str:
    """Facts of maximum, minimum and where: what both alternatives have, and for a maximum signs of one."""
    lines: list[str] = []
    for node in ('(Fn2 "maximum" d x y)', '(Fn2 "minimum" d x y)', '(Fn3 "where" d c x y)'):
        for fact in FACTS:
            lines.append(f"(rule ((= e {node}) ({fact} x) ({fact} y)) (({fact} e)) :ruleset facts)")
    for x in "xy":
        largest = '(= e (Fn2 "maximum" d x y))'
        lines.append(f"(rule ({largest} (nonneg {x})) ((nonneg e)) :ruleset facts)")
        lines.append(f"(rule ({largest} (nonneg {x}) (nonzero {x})) ((nonzero e)) :ruleset facts)")
    return "\n".join(lines) + "\n"


def _bounds_text() -> str:
    """Bounds of functions, choices and numbers; of equal values the tighter ones, which must not cross."""
    lines = [
        "(function low (T) BigRat :merge (max old new))",
        "(function high (T) BigRat :merge (min old new))",
        '(rule ((= l (low e)) (= h (high e)) (> l h)) ((panic "Illegal merge of bounds that cross"))'
        " :ruleset facts)",
        "(rule ((= v (value e))) ((set (low e) v) (set (high e) v)) :ruleset facts)",
    ]
    for name, ends in RANGES.items():
        for end, k in zip(("low", "high"), ends, strict=True):
            if k is not None:
                rule = f'(= e (Fn1 "{name}" d x))) ((set ({end} e) {rational(k)})'
                lines.append(f"(rule ({rule}) :ruleset facts)")
    for name, one, both in (("maximum", "low", "high"), ("minimum", "high", "low")):
        node = f'(= e (Fn2 "{name}" d x y))'
        for x in "xy":
            lines.append(f"(rule ({node} (= k ({one} {x}))) ((set ({one} e) k)) :ruleset facts)")
        combine = "max" if name == "maximum" else "min"
        lines.append(
            f"(rule ({node} (= k ({both} x)) (= l ({both} y))) ((set ({both} e) ({combine} k l)))"
            " :ruleset facts)"
        )
    return "\n".join(lines) + "\n"


def _constants_text() -> str:
    """In the class of a constant every other node is subsumed, or every law would match there."""
    names = "abcdef"
    lines = []
    for name, sorts in CONSTRUCTORS.items():
        args = " ".join(names[: len(sorts)])
        if name == "Con":
            extra = " (> (+ (set-length c) (multiset-length d)) 0)"
        else:
            extra = ""
        lines.append(
            f"(rule ((= e ({name} {args})) (= v (value e)){extra})"
            f" ((subsume ({name} {args}))) :ruleset facts)"
        )
    lines.append(
        "(rule ((= v (value e)) (= d (dtype e)))"
        " ((union e (Con d v (set-empty) (multiset-of)))) :ruleset facts)"
    )
    return "\n".join(lines)


_UNITS = """
(relation unit (T i64))
(rule ((= e (Con d k s M)) (= (set-length s) 0) (mem M r) (= r (Fn1 "recip" d t)) (= t (Con d k u N))
       (= (set-length u) 1) (= N (multiset-remove M r)) (finite t) (nonzero t))
      ((unit e (set-get u 0))) :ruleset facts)
(rule ((unit e i) (nonneg e)) ((set (low e) (bigrat (bigint 0) (bigint 1)))
                               (set (high e) (bigrat (bigint 1) (bigint 1)))) :ruleset facts)
(rule ((unit e i) (= v (value e)) (= n (bigrat (bigint (/ i 4096)) (bigint 1)))
       (!= (* v n) (bigrat (bigint 1) (bigint 1))))
      ((panic "Illegal merge of a number with what sums to one otherwise")) :ruleset facts)
"""
"""What sums to one over an index: what is loaded so, and what is over its own sum; as shares it lies between
0 and 1, and where it is a number that is one over the size of the index.
"""
