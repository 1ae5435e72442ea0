"""One test for many like things: all of a batch are tried, and the test fails with the list of those that do not fit.

A rule that holds for every tool is no test a tool: to collect and hand out thousands takes longer than to run them.
`@in_batches("tool", TOOLS)` makes of `def test_rule(tool)` one test a batch, and what is printed names each misfit.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")
Test = Callable[..., None]
_ARGUMENT: Final = "batch"
_MOST_LINES_EACH: Final = 12


def in_batches(
    argument: str, things: Iterable[T], *, name: Callable[[T], str] = str, batch: Callable[[T], Hashable] | int = 40
) -> Callable[[Test], Test]:
    """Try the test with each of `things` in turn, as one test a batch: those alike by `batch`, or so many a time."""
    batches = _split(list(things), batch)

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def try_all(**given: Any) -> None:
            wrong = find_misfits(given.pop(_ARGUMENT), lambda each: test(**{argument: each}, **given), name=name)
            assert not wrong, f"{len(wrong)} do not fit:\n" + "\n".join(wrong)

        others = [each for each in signature.parameters.values() if each.name != argument]
        own = inspect.Parameter(_ARGUMENT, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        # What pytest asks for what the test wants.
        setattr(try_all, "__signature__", signature.replace(parameters=[own, *others]))  # noqa: B010
        return pytest.mark.parametrize(_ARGUMENT, [pytest.param(each, id=id) for id, each in batches.items()])(try_all)

    return decorate


def find_misfits(things: Iterable[T], check: Callable[[T], None], *, name: Callable[[T], str] = str) -> list[str]:
    """Each of `things` that `check` fails for, with the end of what it says."""
    wrong = []
    for each in things:
        try:
            check(each)
        except Exception as error:
            said = "".join(traceback.format_exception_only(error)).strip().splitlines()
            place = traceback.extract_tb(error.__traceback__)[-1]
            lines = [f"{name(each)} (line {place.lineno} of {place.filename})", *said[:_MOST_LINES_EACH]]
            wrong.append("\n  ".join(lines))
    return wrong


def _split(things: list[T], batch: Callable[[T], Hashable] | int) -> Mapping[str, list[T]]:
    batches: dict[str, list[T]] = defaultdict(list)
    for number, each in enumerate(things):
        batches[f"{number // batch + 1}" if isinstance(batch, int) else str(batch(each))].append(each)
    return batches
