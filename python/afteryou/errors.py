"""Exceptions of the package."""

from __future__ import annotations

__all__ = ["Error", "RuleError", "ScenarioError"]


class Error(Exception):
    """The base of all exceptions of this package."""


class ScenarioError(Error):
    """A scenario that cannot be run.

    ``str(error)`` shows the line with a caret. ``message`` is the sentence alone; ``line`` and ``column`` count from 1
    and are None for settings made in code; ``suggestion`` is the word that was probably meant, or None.
    """

    def __init__(
        self,
        text: str,
        message: str = "",
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        suggestion: str | None = None,
    ) -> None:
        super().__init__(text)
        self.message = message or text
        self.file = file
        self.line = line
        self.column = column
        self.suggestion = suggestion

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[object, ...]]:
        arguments = (str(self), self.message, self.file, self.line, self.column, self.suggestion)
        return type(self), arguments


class RuleError(Error):
    """A rule written in Python that raised an exception, its ``__cause__``, or returned a window that is none.

    ``rule`` is its name, ``method`` the method that was called, ``time_s`` the simulated time (None outside of an event).
    """

    def __init__(self, text: str, rule: str = "", method: str = "", time_s: float | None = None) -> None:
        super().__init__(text)
        self.rule = rule
        self.method = method
        self.time_s = time_s

    def __reduce__(self) -> tuple[type[RuleError], tuple[object, ...]]:
        return type(self), (str(self), self.rule, self.method, self.time_s)
