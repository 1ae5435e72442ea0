"""Encoding and decoding by signature text: `encode_call("function transfer(address,uint256)", to, amount)`.

Values made of single words go through our own packer, the rest through cached eth_abi coders; the two are
held equal by property tests. Addresses come out in their EIP-55 form. Text that a contract returns is data from
outside: it is capped and freed of control characters before it reaches an error.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from eth_abi.decoding import AddressDecoder, ContextFramesBytesIO
from eth_abi.encoding import AddressEncoder
from eth_abi.exceptions import DecodingError, EncodingError
from eth_abi.grammar import TupleType
from eth_abi.grammar import parse as parse_type
from eth_abi.registry import BaseEquals, registry
from eth_utils.address import to_checksum_address

from tools_app.chain.abi_words import WORD_PACKERS, word_kind, word_size
from tools_app.chain.aggregate_bytes import RESULTS, decode_results
from tools_app.chain.kept_encodings import ENCODINGS
from tools_app.chain.known_errors import ERROR_TEXT, PANIC, PANIC_NAMES, find_error
from tools_app.chain.signatures import AbiEntry, AbiParam, parse_signature
from tools_app.core.invisible_text import drop_invisible
from tools_app.toolkit.context import AbiValue, AbiValues
from tools_app.toolkit.views import LogEntry

_TEXT_LIMIT: Final = 200
_PLAIN: Final = frozenset({str, int, bool, bytes})
_MOST_KEPT_BYTES: Final = 2_048


class AbiDecodeError(ValueError):
    """Bytes from a chain do not have the shape the signature says."""


@lru_cache(maxsize=65_536)
def checksum(address: str) -> str:
    """EIP-55 form of an address in any case; cached because keccak costs more than the read it belongs to."""
    return str(to_checksum_address(address))


def clean_text(text: str, *, limit: int = _TEXT_LIMIT) -> str:
    """Text of foreign origin, without control, invisible or unassigned characters, and cut to `limit`."""
    cleaned = "".join(letter for letter in drop_invisible(text[: 16 * limit]) if _is_assigned(letter)).strip()
    return cleaned if len(cleaned) <= limit else cleaned[: limit - 1] + "…"


def _is_assigned(letter: str) -> bool:
    """Line feeds and tabs are dropped here too: a name stands on one line."""
    return unicodedata.category(letter)[0] != "C"


def _address_of(data: bytes) -> str:
    return checksum("0x" + data.hex())


class _ChecksumAddressDecoder(AddressDecoder):
    decoder_fn = staticmethod(_address_of)  # type: ignore[assignment]


_registry = registry.copy()
_registry.unregister("address")
_registry.register(BaseEquals("address"), AddressEncoder, _ChecksumAddressDecoder, label="address")


# ---- the public functions -----------------------------------------------------------------------------------------


def encode_call(signature: str, *args: object) -> bytes:
    """Call data of a function: selector and arguments. Raises ValueError when an argument does not fit its type."""
    one = args[0] if len(args) == 1 and type(args[0]) is tuple else None
    if one is not None and (known := ENCODINGS.find(signature, one)) is not None:
        return known
    if all(map(_is_plain, args)):
        data = _encode_plain(signature, *args)
        if one is not None:
            ENCODINGS.keep(signature, one, data)
        return data
    return _selector(signature) + encode_args(_input_types(signature), args)


def _is_plain(arg: object) -> bool:
    return type(arg) in _PLAIN or (type(arg) is tuple and all(map(_is_plain, arg)))


# The same few hundred reads are asked block after block. By type too, because True is no 1 to an ABI.
@lru_cache(maxsize=4096, typed=True)
def _encode_plain(signature: str, *args: object) -> bytes:
    return _selector(signature) + encode_args(_input_types(signature), args)


def encode_constructor(signature: str, *args: object) -> bytes:
    """The arguments that follow the creation code."""
    return encode_args(_input_types(signature), args)


def decode_input(signature: str, data: bytes) -> AbiValues:
    """The arguments inside call data. Raises AbiDecodeError, also when the selector is another function's."""
    if data[:4] != _selector(signature):
        raise AbiDecodeError(f"selector 0x{data[:4].hex()} is not that of {signature!r}")
    return decode_values(_input_types(signature), data[4:])


def decode_output(signature: str, data: bytes) -> AbiValues:
    """The values a function returned. Raises AbiDecodeError."""
    if len(data) > _MOST_KEPT_BYTES:
        return decode_values(_output_types(signature), data)
    return _decode_kept(signature, data)


# Most of what is read for a preview was read for the one before, and is the same: values are never changed in place.
@lru_cache(maxsize=4096)
def _decode_kept(signature: str, data: bytes) -> tuple[object, ...]:
    return decode_values(_output_types(signature), data)


def event_topic(signature: str) -> str:
    """Topic 0 of an event, 0x-hex."""
    return "0x" + _parsed(signature, "event").digest.hex()


def encode_event_topics(signature: str, **indexed: object) -> list[str | None]:
    """A filter for an event: its topic and the indexed arguments given by name, None where any value passes."""
    entry = _parsed(signature, "event")
    topics: list[str | None] = [] if entry.is_anonymous else ["0x" + entry.digest.hex()]
    for param in entry.inputs:
        if param.is_indexed:
            value = indexed.pop(param.name, None)
            topics.append(None if value is None else "0x" + encode_args((param.type,), (value,)).hex())
    if indexed:
        raise ValueError(f"{signature!r} has no indexed {sorted(indexed)}")
    while topics and topics[-1] is None:
        topics.pop()
    return topics


def decode_log(signature: str, log: LogEntry) -> dict[str, AbiValue] | None:
    """The arguments of an event by name, or None when `log` is not that event (topic, number of topics or shape)."""
    values = decode_event(signature, log)
    return None if values is None else _name_values(_parsed(signature, "event").inputs, values, is_log=True)


def decode_event(signature: str, log: LogEntry) -> AbiValues | None:
    """The arguments of an event in their order, structs as tuples, or None when `log` is not that event."""
    entry = _parsed(signature, "event")
    topics = list(log.topics)
    if not entry.is_anonymous:
        if not topics or topics[0].lower() != "0x" + entry.digest.hex():
            return None
        topics = topics[1:]
    indexed = [param for param in entry.inputs if param.is_indexed]
    plain = [param for param in entry.inputs if not param.is_indexed]
    if len(topics) != len(indexed):
        return None
    try:
        body = decode_values(tuple(param.type for param in plain), bytes.fromhex(log.data.removeprefix("0x")))
        heads = [_decode_topic(param, topic) for param, topic in zip(indexed, topics, strict=True)]
    except ValueError:
        return None
    from_topics, from_data = iter(heads), iter(body)
    return tuple(next(from_topics if param.is_indexed else from_data) for param in entry.inputs)


@dataclass(frozen=True, slots=True)
class RevertReason:
    """Why a call reverted: `text` for people, `data` the raw bytes, `name` and `args` when the error is known."""

    text: str
    name: str | None
    args: Mapping[str, AbiValue]
    data: bytes


def decode_revert(data: bytes, errors: Sequence[str] = ()) -> RevertReason:
    """What revert data says: `Error(string)`, a named panic, a custom error of `errors` or the table, a selector."""
    if not data:
        return RevertReason("reverted without a reason", None, {}, b"")
    signature = next((text for text in errors if _selector(text) == data[:4]), None)
    signature = signature or find_error(data[:4])
    if signature is None:
        return RevertReason(f"unknown error 0x{data[:4].hex()}", None, {}, data)
    entry = parse_signature(signature)
    try:
        values = decode_values(entry.input_types, data[4:])
    except AbiDecodeError:
        return RevertReason(f"{entry.name} with malformed arguments", entry.name, {}, data)
    named = _name_values(entry.inputs, values)
    if signature == ERROR_TEXT:
        return RevertReason(clean_text(str(values[0])) or "reverted with an empty reason", entry.name, named, data)
    if signature == PANIC:
        meaning = PANIC_NAMES.get(values[0], "unknown panic")
        return RevertReason(f"Panic 0x{values[0]:02x}: {meaning}", entry.name, named, data)
    listed = ", ".join(f"{key}={_show(value)}" for key, value in named.items())
    return RevertReason(clean_text(f"{entry.name}({listed})", limit=2 * _TEXT_LIMIT), entry.name, named, data)


def encode_args(types: tuple[str, ...], args: Sequence[object]) -> bytes:
    """ABI encoding of `args`. Raises ValueError naming the types when a value does not fit."""
    if len(types) != len(args):
        raise ValueError(f"{len(args)} arguments for ({', '.join(types)})")
    try:
        return _encoder(types)(args)
    except (EncodingError, TypeError, OverflowError) as error:
        raise ValueError(f"cannot encode {args!r} as ({', '.join(types)}): {error}") from error


def decode_values(types: tuple[str, ...], data: bytes) -> AbiValues:
    """Values of ABI-encoded bytes. Raises AbiDecodeError."""
    try:
        return _decoder(types)(data)
    except (DecodingError, UnicodeDecodeError, OverflowError) as error:
        raise AbiDecodeError(f"{len(data)} bytes are not ({', '.join(types)})") from error


# ---- coders, built once per list of types ---------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _encoder(types: tuple[str, ...]) -> Callable[[Sequence[object]], bytes]:
    packers = [_find_packer(kind) for kind in types]
    if all(packer is not None for packer in packers):
        bound = [packer for packer in packers if packer]
        return lambda args: b"".join([pack(arg) for pack, arg in zip(bound, args, strict=True)])
    coder = _registry.get_tuple_encoder(*types)
    return lambda args: bytes(coder(args))


def _find_packer(kind: str) -> Callable[[object], bytes] | None:
    """The packer of a single word, or of a struct of nothing but such; None for what needs the general coder."""
    pack = WORD_PACKERS.get(word_kind(kind))
    if pack is not None:
        return partial(_pack_word, pack, word_size(kind))
    parsed = parse_type(kind)
    if parsed.is_array or not isinstance(parsed, TupleType):
        return None
    members = [_find_packer(member.to_type_str()) for member in parsed.components]
    if not all(member is not None for member in members):
        return None
    return partial(_pack_struct, [member for member in members if member])


def _pack_word(pack: Callable[[object, int], bytes], size: int, value: object) -> bytes:
    return pack(value, size)


def _pack_struct(members: Sequence[Callable[[object], bytes]], value: object) -> bytes:
    if not isinstance(value, list | tuple) or len(value) != len(members):
        raise ValueError(f"{value!r} is no struct of {len(members)} members")
    return b"".join([pack(part) for pack, part in zip(members, value, strict=True)])


@lru_cache(maxsize=4096)
def _decoder(types: tuple[str, ...]) -> Callable[[bytes], tuple[object, ...]]:
    unpackers = [_WORD_UNPACKERS.get(word_kind(kind)) for kind in types]
    if all(unpacker is not None for unpacker in unpackers):
        bound = [
            (unpack, word_size(kind), 32 * index)
            for index, (unpack, kind) in enumerate(zip(unpackers, types, strict=True))
            if unpack
        ]
        length = 32 * len(types)

        def decode_words(data: bytes) -> tuple[object, ...]:
            if len(data) < length:
                raise AbiDecodeError(f"{len(data)} bytes, {length} expected for ({', '.join(types)})")
            return tuple([unpack(data[at : at + 32], size) for unpack, size, at in bound])

        return decode_words
    unpack_each = _WORD_UNPACKERS.get(word_kind(types[0][:-2])) if len(types) == 1 and types[0].endswith("[]") else None
    if unpack_each is not None:
        return partial(_decode_word_list, unpack_each, word_size(types[0][:-2]))
    if types == RESULTS:
        return lambda data: (decode_results(data),)
    coder = _registry.get_tuple_decoder(*types, strict=False)
    return lambda data: tuple(coder(ContextFramesBytesIO(data)))


def _decode_word_list(unpack: Callable[[bytes, int], object], size: int, data: bytes) -> tuple[object, ...]:
    """One list of single words: hundreds of them in one answer are common where storage is read."""
    start = int.from_bytes(data[:32], "big") + 32
    count = int.from_bytes(data[start - 32 : start], "big")
    if len(data) < max(64, start) or count * 32 > len(data) - start:
        raise AbiDecodeError(f"{len(data)} bytes are no list of words")
    return (tuple([unpack(data[at : at + 32], size) for at in range(start, start + count * 32, 32)]),)


def _unpack_uint(word: bytes, bits: int) -> int:
    value = int.from_bytes(word, "big")
    if value >> bits:
        raise AbiDecodeError(f"{value} is no uint{bits}")
    return value


def _unpack_int(word: bytes, bits: int) -> int:
    value = int.from_bytes(word, "big", signed=True)
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise AbiDecodeError(f"{value} is no int{bits}")
    return value


def _unpack_address(word: bytes, _: int) -> str:
    if word[:12] != b"\0" * 12:
        raise AbiDecodeError("bits are set above the address")
    return checksum("0x" + word[12:].hex())


def _unpack_bool(word: bytes, _: int) -> bool:
    value = int.from_bytes(word, "big")
    if value > 1:
        raise AbiDecodeError(f"{value} is no bool")
    return value == 1


def _unpack_bytes(word: bytes, size: int) -> bytes:
    return word[:size]


_WORD_UNPACKERS: Final[dict[str, Callable[[bytes, int], object]]] = {
    "uint": _unpack_uint,
    "int": _unpack_int,
    "address": _unpack_address,
    "bool": _unpack_bool,
    "bytes": _unpack_bytes,
}


# ---- names -----------------------------------------------------------------------------------------------------------


def _name_values(params: tuple[AbiParam, ...], values: AbiValues, *, is_log: bool = False) -> dict[str, AbiValue]:
    """By name; of a log an indexed struct or list is the hash that stands in its topic."""
    return {
        param.name or str(index): value
        if is_log and param.is_indexed
        else _name_value(param, value, param.array_suffix)
        for index, (param, value) in enumerate(zip(params, values, strict=True))
    }


def _name_value(param: AbiParam, value: AbiValue, suffix: str) -> object:
    if not param.members:
        return value
    if suffix:
        shorter = suffix[: suffix.rindex("[")]
        return [_name_value(param, item, shorter) for item in value]
    return _name_values(param.members, value)


def _decode_topic(param: AbiParam, topic: str) -> object:
    raw = bytes.fromhex(topic.removeprefix("0x"))
    return raw if param.is_dynamic else decode_values((param.type,), raw)[0]


def _show(value: object) -> str:
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)


def _parsed(signature: str, kind: str) -> AbiEntry:
    entry = parse_signature(signature)
    if entry.kind != kind:
        raise ValueError(f"{signature!r} is no {kind}")
    return entry


@lru_cache(maxsize=4096)
def _selector(signature: str) -> bytes:
    return parse_signature(signature).selector


@lru_cache(maxsize=4096)
def _input_types(signature: str) -> tuple[str, ...]:
    return parse_signature(signature).input_types


@lru_cache(maxsize=4096)
def _output_types(signature: str) -> tuple[str, ...]:
    return parse_signature(signature).output_types
