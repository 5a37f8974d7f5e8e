"""A small table that prints itself, as text and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of words under headings; `numbers` are the columns that stand on the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[str, ...] = ()

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.rows)

    def column(self, heading: str) -> tuple[str, ...]:
        """The words under a heading."""
        k = self.headings.index(heading)
        return tuple(row[k] for row in self.rows)

    def __str__(self) -> str:
        lines = [self.headings, *(line for row in self.rows for line in _split(row))]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.headings))]
        right = [heading in self.numbers for heading in self.headings]
        return "\n".join(_aligned(line, widths, right) for line in lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        sides = ["right" if heading in self.numbers else "left" for heading in self.headings]
        head = "".join(f"<th>{escape(h)}</th>" for h in self.headings)
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align: {side}; vertical-align: top; white-space: pre">{escape(word)}</td>'
                for word, side in zip(row, sides, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _split(row: Sequence[str]) -> list[tuple[str, ...]]:
    """A row whose words have several lines, as several rows."""
    cells = [word.split("\n") for word in row]
    height = max(map(len, cells))
    return [tuple(cell[k] if k < len(cell) else "" for cell in cells) for k in range(height)]


def _aligned(line: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    words = [w.rjust(n) if r else w.ljust(n) for w, n, r in zip(line, widths, right, strict=True)]
    return "  ".join(words).rstrip()
