"""The errors that saturate raises: a stable `code`, and who needs what, what came, and what to do."""


class SaturateError(Exception):
    """Base of every error raised on purpose by this package.

    `code` is stable between versions and meant for programs; the message is meant for people.
    """

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class ShapeError(SaturateError):
    """Operands whose shapes, axes or dtypes do not fit the op."""

    code = "shape"


class TraceError(SaturateError):
    """A call in the user's function that cannot be traced."""

    code = "trace"


class DifferentiationError(SaturateError):
    """A gradient that does not exist or is not defined here."""

    code = "differentiation"


class ProgramError(SaturateError):
    """A malformed program: at the constructor, the parser or a pass."""

    code = "malformed_program"


class ArgumentError(SaturateError):
    """A wrong argument to a public function or to an optimized callable."""

    code = "argument"


class LawError(SaturateError):
    """A law that is declared wrongly, or that the checker refutes."""

    code = "law"


class EGraphError(SaturateError):
    """Facts that contradict each other inside one e-class."""

    code = "egraph"


class ExtractionError(SaturateError):
    """Classes from which no valid choice can be extracted, or a choice that is not valid."""

    code = "extraction"


class RunnerError(SaturateError):
    """A runner that is not available here, or that fails on a program."""

    code = "runner"


class TargetError(SaturateError):
    """A value that the ops of a target cannot express."""

    code = "unsupported_operator"


def shown(value: object) -> str:
    """`repr` of what came, short enough for a message; an int of thousands of digits has none in Python."""
    try:
        text = repr(value)
    except ValueError:
        text = f"an unprintable {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:100]} … {text[-60:]}"


class CacheError(SaturateError):
    """The file of results that were found before cannot be used."""

    code = "cache"
