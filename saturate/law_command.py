"""What `saturate rules` prints: the catalogue, one law with its uses, or what the checker says of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from saturate import lawbook
from saturate.errors import ArgumentError
from saturate.extract.units import plural
from saturate.named import module_of
from saturate.rules import CATALOGUE, EXACTNESS, IDENTITIES, ROUNDING, THEORIES, Identity, Law
from saturate.rules.witness import refutation
from saturate.trial import trial
from saturate.usage import Use, uses

Declared = TypeVar("Declared", bound=Law | Identity)
EVERY: tuple[Law | Identity, ...] = (*CATALOGUE, *(i for theory in IDENTITIES.values() for i in theory))
"""The laws, and the identities that need none."""


def catalogue(as_json: bool) -> str:
    """Every law and identity by theory."""
    if not as_json:
        listed = lawbook.listing(THEORIES, IDENTITIES)
        return f"{listed}\n\nOne of them: saturate rules {CATALOGUE[0].name}"
    return _json(
        [
            {
                "name": law.name,
                "theory": law.theory,
                "exact": law.exact,
                "direction": law.direction if isinstance(law, Law) else None,
                "statement": law.doc,
            }
            for law in EVERY
        ]
    )


def law_named(name: str, laws: Sequence[Declared], whose: str = "the catalogue") -> Declared:
    """The law or identity of that name; raises `ArgumentError` with the names that are near."""
    found = next((law for law in laws if law.name == name), None)
    if found is not None:
        return found
    names = [law.name for law in laws]
    near = get_close_matches(name, names, 3) or [n for n in names if name in n][:3]
    said = f"is it {' or '.join(near)}?" if near else "`saturate rules` lists them"
    raise ArgumentError(f"{whose} has no law {name!r}: {said}")


def page(law: Law | Identity, as_json: bool, used: bool) -> str:
    """One law or identity; with `used`, what a law did when the workloads were optimized."""
    if isinstance(law, Identity):
        if as_json:
            return _json(lawbook.identity_to_dict(law))
        return "\n".join(_headed(law, lawbook.identity_rows(law)))
    found: tuple[Use, ...] | None = _uses(law) if used else None
    if as_json:
        plain = lawbook.to_dict(law)
        if found is not None:
            plain["used"] = [vars(use) | {"values": list(use.values)} for use in found]
        return _json(plain)
    lines = _headed(law, lawbook.rows(law))
    if found is not None:
        lines += ["", *_used(found)]
    return "\n".join([*lines, "", lawbook.rule(law)])


def _headed(law: Law | Identity, rows: Sequence[tuple[str, str]]) -> list[str]:
    """Name, docstring, and the rows in two columns."""
    width = max(len(what) for what, _ in rows)
    stated = (f"  {line}".rstrip() for line in law.doc.splitlines())
    return [law.name, *stated, "", *(f"{what:{width}}  {said}" for what, said in rows)]


def _uses(law: Law) -> tuple[Use, ...]:
    """The law among those that `optimize` admits beside it."""
    most = max(EXACTNESS.index(law.exact), EXACTNESS.index(ROUNDING))
    return uses(EXACTNESS[most]).get(law.name, ())


def _used(found: tuple[Use, ...]) -> list[str]:
    """A line for each workload in which the law matched, where it made something first."""
    if not found:
        return ["used        in no workload"]
    matches, seconds = sum(u.matches for u in found), sum(u.seconds for u in found)
    many = f"{plural(len(found), 'workload')}; of the results it made:"
    lines = [f"used        {matches} times in {_ms(seconds)} while optimizing {many}"]
    width = max(len(use.program) for use in found)
    for use in sorted(found, key=lambda u: (not u.values, -u.matches)):
        made = ", ".join(use.values) or "nothing"
        lines.append(f"  {use.program:{width}}  {use.matches:5} times  {_ms(use.seconds):>8}  {made}")
    return lines


def _ms(seconds: float) -> str:
    """Milliseconds; the engine of Python 3.11 counts whole ones."""
    return f"{seconds * 1e3:.1f} ms" if seconds else "< 1 ms"


def checked(file: str, name: str | None, as_json: bool) -> tuple[str, bool]:
    """What the checker says of the laws that a file declares, and whether all of them are right."""
    laws = laws_of(file)
    if name is not None:
        laws = (law_named(name, laws, file),)
    said = [_verdict(law) for law in laws]
    if as_json:
        plain = [
            {
                "name": w.name,
                "law": lawbook.formula(w),
                "exact": w.exact,
                "right": not wrong,
                "says": wrong or None,
            }
            for w, wrong in zip(laws, said, strict=True)
        ]
        return _json(plain), not any(said)
    lines: list[str] = []
    for law, wrong in zip(laws, said, strict=True):
        lines += [f"{'WRONG' if wrong else 'right'}  {law.name} ({law.exact}): {lawbook.formula(law)}"]
        lines += [f"       {wrong}"] if wrong else []
    lines.append(f"{plural(len(laws), 'law')}, {sum(map(bool, said)) or 'none'} wrong")
    return "\n".join(lines), not any(said)


def laws_of(file: str) -> tuple[Law, ...]:
    """The laws that a file declares at its top level; raises `ArgumentError` where there are none."""
    module = module_of(file, "rules --check")
    here = str(Path(file).resolve())
    found = [v for v in vars(module).values() if isinstance(v, Law) and v.line.rpartition(":")[0] == here]
    if not found:
        raise ArgumentError(
            f"{file} declares no law at its top level: write @law(a='i') over a function of a that returns "
            "the two sides (docs/how-to-add-a-law.md)"
        )
    return tuple({id(law): law for law in found}.values())


def _verdict(law: Law) -> str:
    """What is wrong with a law, or nothing."""
    if any(law.name == known.name for known in CATALOGUE):
        return "its name is that of a law of the catalogue: rename it, or optimize refuses the two together"
    finding = refutation(law)
    if finding is not None:
        return finding.text
    return trial(law)


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, indent=1, ensure_ascii=False)
