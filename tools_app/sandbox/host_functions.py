"""Gives a module its host functions: reads, and nothing else.

The chain is read through the context of the tool that runs, so a module sees the golem's chains at the pinned block and
no other door. What could write is not here: a wish leaves in the module's answer.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

from wasmtime import Store, WasmtimeError
from wasmtime.component import Linker, Variant

from tools_app.chain.signatures import SignatureError, parse_signature
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.errors import BudgetExceeded, GolemError, InvalidParams
from tools_app.core.storable_text import make_plain
from tools_app.core.stored_json import read_stored
from tools_app.core.units import MICRO_USD_PER_USD
from tools_app.sandbox.interface import ASKING, HOST, HostFunction
from tools_app.sandbox.metering import HostMeter
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.params import check_address, parse_raw_amount

logger = logging.getLogger(__name__)

_LONGEST_LINE: Final = 500
_MOST_MEMORIES: Final = 10
_MOST_ARGS: Final = 16
_SIGNATURE: Final = re.compile(r"^function [A-Za-z_][A-Za-z0-9_]{0,63}\([^()]{0,300}\) view returns \([^()]{0,300}\)$")


class SearchMemory(Protocol):
    """A search of one golem's own memory; wiring hands it down, since memory lies above this layer."""

    def __call__(
        self, *, golem_id: UUID, query: str, limit: int, now: datetime, wait_seconds: float
    ) -> list[dict[str, object]]: ...


def link_host(
    *,
    linker: Linker,
    allowed: frozenset[HostFunction],
    ctx: ReadContext,
    meter: HostMeter,
    steps: Callable[[str], None],
) -> None:
    """Define the functions of `allowed` and no others, so that a component that imports more does not link."""
    answers = {
        HostFunction.CHAIN_READ: _read_chain,
        HostFunction.TOKEN: _read_token,
        HostFunction.PRICE: _read_price,
        HostFunction.RECALL: _recall,
    }

    def ask(function: HostFunction) -> Callable[[Store, str], Variant]:
        def asked(_: Store, request: str) -> Variant:
            return _guard(meter, lambda: _answer(function, answers[function], request, ctx, meter))

        return asked

    def tell(function: HostFunction) -> Callable[[Store, str], None]:
        def told(_: Store, text: str) -> None:
            _guard(meter, lambda: _tell(function, text, meter, steps))

        return told

    with linker.root() as root, root.add_instance(HOST) as host:
        for function in sorted(allowed):
            host.add_func(str(function), ask(function) if function in ASKING else tell(function))


def _guard(meter: HostMeter, work: Callable[[], object]) -> Any:  # Any: JSON that a module or host tells
    """`work`, which ends the module for whatever it raises; nothing but an error of wasmtime leaves here."""
    try:
        return work()
    except WasmtimeError:
        raise
    except GolemError as error:
        return meter.end(error)
    except Exception:
        logger.exception("a host function of the sandbox failed")
        return meter.end(GolemError("the host failed while it worked for the module"))


def _answer(
    function: HostFunction,
    answer: Callable[[ReadContext, Mapping[str, object]], object],
    request: str,
    ctx: ReadContext,
    meter: HostMeter,
) -> Variant:
    meter.begin(function, request)
    try:
        asked = read_json(request, most_bytes=meter.limits.host_bytes)
        if not isinstance(asked, dict):
            raise InvalidParams("a request of the host is a JSON object")
        # Only ASCII: a half pair of surrogates would fail where wasmtime turns text into bytes.
        text = json.dumps(answer(ctx, asked), ensure_ascii=True, separators=(",", ":"))
    except OutsideTextRefused as error:
        return _refuse(meter, "INVALID_PARAMS", str(error))
    except BudgetExceeded:
        raise
    except GolemError as error:
        if meter.deadline.is_over:
            raise BudgetExceeded("the module's time was over while the host read for it") from error
        return _refuse(meter, error.code, error.detail)
    meter.charge(0, text)
    return Variant("ok", text)


def _refuse(meter: HostMeter, code: str, words: str) -> Variant:
    text = json.dumps({"code": code, "detail": words[:_LONGEST_LINE]}, ensure_ascii=True)
    meter.charge(0, text)
    return Variant("err", text)


def _tell(function: HostFunction, text: str, meter: HostMeter, steps: Callable[[str], None]) -> None:
    meter.begin(function, text)
    line = make_plain(text)[:_LONGEST_LINE].replace("\n", " ")
    if function is HostFunction.PROGRESS:
        steps(line)
    elif len(meter.lines) < meter.limits.log_lines:
        meter.lines.append(line)


@dataclass(frozen=True, slots=True)
class _HostCallAsked:
    """A read of the chain before anything of it is checked."""

    to: object = None
    signature: object = None
    args: object = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _AskedMemories:
    """A search before anything of it is checked."""

    limit: object = 5


def _read_chain(ctx: ReadContext, asked: Mapping[str, object]) -> Any:  # Any: JSON that a module or host tells
    _check_names(asked, {"to", "signature", "args", "chain_id"})
    told = read_stored(_HostCallAsked, asked)
    signature, args = told.signature, told.args
    if not isinstance(signature, str) or not _SIGNATURE.match(signature):
        raise InvalidParams("signature reads `function name(types) view returns (types)`, without structs")
    if not isinstance(args, list) or len(args) > _MOST_ARGS:
        raise InvalidParams(f"args is a list of at most {_MOST_ARGS} values")
    try:
        kinds = parse_signature(signature).input_types
        if len(kinds) != len(args):
            raise InvalidParams(f"{signature!r} takes {len(kinds)} arguments, {len(args)} were given")
        to = check_address(str(told.to))
        values = [_fit(kind, value) for kind, value in zip(kinds, args, strict=True)]
        reader = ctx.chain(_chain_of(asked))
        found = reader.call(to, signature, *values)
    except (ValueError, TypeError, SignatureError) as error:
        raise InvalidParams(f"this read cannot be made: {make_plain(str(error))[:200]}") from None
    return {"values": [_show(value) for value in found], "block": reader.block.number, "chain_id": reader.chain_id}


def _read_token(ctx: ReadContext, asked: Mapping[str, object]) -> object:
    _check_names(asked, {"token", "chain_id"})
    token = ctx.chain(_chain_of(asked)).token(_text(asked, "token"))
    return {
        "address": token.address,
        "symbol": token.symbol,
        "decimals": token.decimals,
        "chain_id": token.chain_id,
        "is_registered": token.is_registered,
    }


def _read_price(ctx: ReadContext, asked: Mapping[str, object]) -> object:
    _check_names(asked, {"token", "chain_id"})
    reader = ctx.chain(_chain_of(asked))
    price = reader.price(reader.token(_text(asked, "token")))
    micro = price.answer * MICRO_USD_PER_USD // 10**price.decimals
    return {
        "usd": f"{micro // MICRO_USD_PER_USD}.{micro % MICRO_USD_PER_USD:06d}",
        "age_seconds": price.age_seconds,
        "block": reader.block.number,
    }


def _recall(ctx: ReadContext, asked: Mapping[str, Any]) -> object:  # Any: JSON that a module or host tells
    _check_names(asked, {"query", "limit"})
    limit = read_stored(_AskedMemories, asked).limit
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= _MOST_MEMORIES:
        raise InvalidParams(f"limit is a whole number from 1 to {_MOST_MEMORIES}")
    found = ctx.service(SearchMemory)(  # type: ignore[type-abstract]
        golem_id=ctx.golem.id,
        query=_text(asked, "query"),
        limit=limit,
        now=ctx.now,
        wait_seconds=ctx.deadline.remaining_ms() / 2_000,
    )
    return {"memories": found}


def _check_names(asked: Mapping[str, object], known: set[str]) -> None:
    strange = sorted(set(asked) - known)
    if strange:
        raise InvalidParams(f"a request takes {', '.join(sorted(known))} and nothing else")


def _text(asked: Mapping[str, Any], name: str) -> str:  # Any: JSON that a module or host tells
    value = asked.get(name)
    if not isinstance(value, str) or not value or len(value) > _LONGEST_LINE:
        raise InvalidParams(f"{name} is a text of 1 to {_LONGEST_LINE} characters")
    return value


def _chain_of(asked: Mapping[str, object]) -> int | None:
    value = asked.get("chain_id")
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise InvalidParams("chain_id is a positive whole number")
    return value


def _fit(kind: str, value: object) -> object:
    """A JSON value as the ABI type wants it: numbers of base units come as decimal text."""
    if kind.endswith("]"):
        if not isinstance(value, list) or len(value) > _MOST_ARGS:
            raise ValueError(f"{kind} is a list of at most {_MOST_ARGS} values")
        return [_fit(kind[: kind.rindex("[")], member) for member in value]
    if kind.startswith("uint"):
        return parse_raw_amount(value)
    if kind.startswith("int"):
        if (
            not isinstance(value, str | int)
            or isinstance(value, bool)
            or not re.fullmatch(r"-?[0-9]{1,78}", str(value))
        ):
            raise ValueError(f"{kind} is a decimal text")
        return int(value)
    if kind == "address":
        return check_address(str(value))
    if kind == "bool":
        if not isinstance(value, bool):
            raise ValueError("bool is true or false")
        return value
    if kind.startswith("bytes"):
        return bytes.fromhex(str(value).removeprefix("0x"))
    return str(value)


def _show(value: Any) -> Any:  # Any: JSON that a module or host tells
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, list | tuple):
        return [_show(member) for member in value]
    return str(value)
