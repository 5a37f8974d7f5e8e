"""What `saturate rules` prints: the catalogue, one law with its uses, or what the checker says of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from saturate import lawbook
from saturate.errors import ArgumentError
from saturate.extract.units import plural
from saturate.named import module_of
from saturate.rules import CATALOGUE, EXACTNESS, ROUNDING, THEORIES, Law
from saturate.rules.witness import refutation
from saturate.trial import trial
from saturate.usage import Use, uses


def catalogue(as_json: bool) -> str:
    """Every law by theory."""
    if not as_json:
        return f"{lawbook.listing(THEORIES)}\n\nOne of them: saturate rules {CATALOGUE[0].name}"
    keys = ("name", "theory", "exact", "direction", "statement")
    return _json([{key: lawbook.to_dict(law)[key] for key in keys} for law in CATALOGUE])


def law_named(name: str, laws: Sequence[Law] = CATALOGUE, whose: str = "the catalogue") -> Law:
    """The law of that name; raises `ArgumentError` with the names that are near."""
    found = next((law for law in laws if law.name == name), None)
    if found is not None:
        return found
    names = [law.name for law in laws]
    near = get_close_matches(name, names, 3) or [n for n in names if name in n][:3]
    said = f"is it {' or '.join(near)}?" if near else "`saturate rules` lists them"
    raise ArgumentError(f"{whose} has no law {name!r}: {said}")


def page(law: Law, as_json: bool, used: bool) -> str:
    """One law; with `used`, what it did when the workloads were optimized."""
    found: tuple[Use, ...] | None = _uses(law) if used else None
    if as_json:
        plain = lawbook.to_dict(law)
        if found is not None:
            plain["used"] = [vars(use) | {"values": list(use.values)} for use in found]
        return _json(plain)
    rows = lawbook.rows(law)
    width = max(len(what) for what, _ in rows)
    lines = [law.name, *(f"  {line}".rstrip() for line in law.doc.splitlines()), ""]
    lines += [f"{what:{width}}  {said}" for what, said in rows]
    if found is not None:
        lines += ["", *_used(found)]
    return "\n".join([*lines, "", lawbook.rule(law)])


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
