"""Human-readable ABI: one line of Solidity-like text becomes a typed description, parsed once.

`function slot0() view returns (uint160 sqrtPriceX96, int24 tick)`, `event Transfer(address indexed from, …)`,
`error Foo(uint256)`, `constructor(address owner)`. A struct is written in place: `(address token, uint24 fee)[] path`,
with or without the word `tuple` before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eth_utils.crypto import keccak

_TOKEN: Final = re.compile(r"\s*(?:(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)|(?P<array>\[[0-9]*\])|(?P<mark>[(),]))")
_ELEMENTARY: Final = re.compile(
    r"^(?:address|bool|string|bytes|bytes(?:[1-9]|[12][0-9]|3[0-2])|u?int(?:[0-9]{1,3})|function)$"
)
_ALIASES: Final = {"uint": "uint256", "int": "int256", "byte": "bytes1"}
_LOCATIONS: Final = frozenset({"memory", "calldata", "storage", "payable"})
_MODIFIERS: Final = frozenset({"view", "pure", "payable", "nonpayable", "external", "public", "virtual", "override"})
_KINDS: Final = frozenset({"function", "event", "error", "constructor"})


class SignatureError(ValueError):
    """A signature in our own source does not parse; never caused by input from outside."""


@dataclass(frozen=True, slots=True)
class AbiParam:
    """One parameter: its canonical type, its name ("" when it has none), and the members when it is a struct."""

    type: str
    name: str
    members: tuple[AbiParam, ...] = ()
    is_indexed: bool = False

    @property
    def array_suffix(self) -> str:
        """`[]`, `[4][]`, or "" for a plain value."""
        return self.type[self.type.index("[", self.type.rfind(")") + 1) :] if self.type.endswith("]") else ""

    @property
    def is_dynamic(self) -> bool:
        """Whether an indexed topic holds the hash of the value instead of the value."""
        return self.type in ("string", "bytes") or self.type.endswith("]") or self.type.startswith("(")


@dataclass(frozen=True, slots=True)
class AbiEntry:
    """A parsed signature. `canonical` is what is hashed: `transfer(address,uint256)`."""

    kind: str
    name: str
    inputs: tuple[AbiParam, ...]
    outputs: tuple[AbiParam, ...]
    canonical: str
    is_anonymous: bool
    digest: bytes

    @property
    def selector(self) -> bytes:
        """The first four bytes of calls to a function, or of an error's revert data."""
        return self.digest[:4]

    @property
    def input_types(self) -> tuple[str, ...]:
        return tuple(param.type for param in self.inputs)

    @property
    def output_types(self) -> tuple[str, ...]:
        return tuple(param.type for param in self.outputs)


@lru_cache(maxsize=4096)
def parse_signature(text: str) -> AbiEntry:
    """The entry `text` describes. Raises SignatureError."""
    return _Parser(text).entry()


class _Parser:
    """Recursive descent over words, parentheses, commas and array suffixes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split(text)
        self._next = 0

    def entry(self) -> AbiEntry:
        kind = self._take_word()
        if kind not in _KINDS:
            raise self._error(f"begins with {kind!r}, not with one of {sorted(_KINDS)}")
        name = "" if kind == "constructor" else self._take_word()
        inputs = self._params()
        outputs: tuple[AbiParam, ...] = ()
        is_anonymous = False
        while self._peek() is not None:
            word = self._take_word()
            if word == "returns" and kind == "function":
                outputs = self._params()
            elif word == "anonymous" and kind == "event":
                is_anonymous = True
            elif word not in _MODIFIERS or kind in ("event", "error"):
                raise self._error(f"unexpected {word!r}")
        canonical = f"{name}({','.join(param.type for param in inputs)})"
        return AbiEntry(kind, name, inputs, outputs, canonical, is_anonymous, bytes(keccak(text=canonical)))

    def _params(self) -> tuple[AbiParam, ...]:
        self._expect("(")
        params: list[AbiParam] = []
        if self._peek() == ")":
            self._next += 1
            return ()
        while True:
            params.append(self._param())
            mark = self._take()
            if mark == ")":
                return tuple(params)
            if mark != ",":
                raise self._error(f"expected ',' or ')', found {mark!r}")

    def _param(self) -> AbiParam:
        if self._peek() == "tuple":
            self._next += 1
        members: tuple[AbiParam, ...] = ()
        if self._peek() == "(":
            members = self._params()
            base = f"({','.join(member.type for member in members)})"
        else:
            word = self._take_word()
            base = _ALIASES.get(word, word)
            if not _is_elementary(base):
                raise self._error(f"{word!r} is no ABI type")
        while (token := self._peek()) is not None and token.startswith("["):
            base += token
            self._next += 1
        name, is_indexed = "", False
        while (token := self._peek()) not in (",", ")", None):
            word = self._take_word()
            if word == "indexed":
                is_indexed = True
            elif word not in _LOCATIONS:
                if name:
                    raise self._error(f"two names, {name!r} and {word!r}")
                name = word
        return AbiParam(base, name, members, is_indexed)

    def _split(self, text: str) -> list[str]:
        tokens: list[str] = []
        position = 0
        stripped = text.rstrip().removesuffix(";")
        while position < len(stripped):
            match = _TOKEN.match(stripped, position)
            if match is None:
                raise self._error(f"unexpected character at {position}")
            tokens.append(match.group().strip())
            position = match.end()
        return tokens

    def _peek(self) -> str | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self) -> str:
        token = self._peek()
        if token is None:
            raise self._error("ends too early")
        self._next += 1
        return token

    def _take_word(self) -> str:
        token = self._take()
        if not (token[0].isalpha() or token[0] in "_$"):
            raise self._error(f"expected a word, found {token!r}")
        return token

    def _expect(self, mark: str) -> None:
        if self._take() != mark:
            raise self._error(f"expected {mark!r}")

    def _error(self, what: str) -> SignatureError:
        return SignatureError(f"{self._text!r}: {what}")


def _is_elementary(word: str) -> bool:
    if not _ELEMENTARY.match(word) or word == "function":
        return False
    if word.lstrip("u").startswith("int"):
        bits = int(word.lstrip("u")[3:])
        return 8 <= bits <= 256 and bits % 8 == 0
    return True
