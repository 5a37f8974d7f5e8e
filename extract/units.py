"""Numbers as people read them: costs with their unit, counts, ratios."""

from __future__ import annotations

from math import isfinite

_TIME = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_COUNT = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def cost(value: float, unit: str) -> str:
    """A cost: nanoseconds as the nearest unit of time, bytes and counts with a decimal prefix."""
    if unit == "ns":
        return _scaled(value, _TIME)
    return memory(value) if unit == "bytes" else f"{count(value)} {unit}".strip()


def count(value: float) -> str:
    """A count with a decimal prefix: 1234567 is `1.23 M`."""
    return _scaled(value, _COUNT).strip()


def memory(value: float) -> str:
    """Bytes with a decimal prefix: 1234567 is `1.23 MB`."""
    text = count(value)
    return f"{text}B" if text[-1].isalpha() else f"{text} B"


def times(ratio: float) -> str:
    """A ratio: 2.5 is `2.50×`."""
    return f"{ratio:.2f}×" if ratio < 1e3 else f"{ratio:.3g}×"


def plural(number: int, what: str) -> str:
    """A number of things: `1 step`, `2 steps`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def error(value: float) -> str:
    """An error in two digits, exact zero as `0`."""
    return "0" if value == 0 else f"{value:.1e}"


def _scaled(value: float, prefixes: tuple[tuple[float, str], ...]) -> str:
    if not isfinite(value):
        return str(value)
    size, prefix = next((p for p in prefixes if float(f"{abs(value):.3g}") >= p[0]), prefixes[-1])
    digits = f"{value:.0f}" if size == 1 and value == int(value) else f"{value / size:#.3g}".rstrip(".")
    return f"{digits} {prefix}"
