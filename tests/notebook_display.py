"""What a notebook shows of a value."""

from __future__ import annotations

from typing import Any

from IPython.core.formatters import DisplayFormatter


def shown(value: object) -> dict[str, str]:
    """The forms in which IPython displays a value, by MIME type."""
    formatter: Any = DisplayFormatter()
    forms: dict[str, str] = formatter.format(value)[0]
    return forms
