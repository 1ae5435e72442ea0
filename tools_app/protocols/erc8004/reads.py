"""Tells what the registries say, read in bounded batches: agents, feedback, validations. What strangers wrote is raw
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tools_app.chain.abi import encode_event_topics
from tools_app.chain.networks import get_network
from tools_app.protocols.erc8004 import math
from tools_app.protocols.erc8004.addresses import IDENTITY, REPUTATION, VALIDATION
from tools_app.protocols.erc8004.errors import AgentNotFound
from tools_app.standards import erc8004
from tools_app.toolkit.context import ChainReader, ReadCall

NOBODY: Final = "0x" + "0" * 40
MOST_CLIENTS: Final = 100
"""Of one agent, the last that came."""
MOST_SAID: Final = 400
"""Feedback that is read at once."""
MOST_VALIDATIONS: Final = 50
MOST_LOG_CHUNKS: Final = 5
"""Ranges of logs, as wide as a node answers, that one call looks through."""


@dataclass(frozen=True, slots=True)
class AgentOnChain:
    """An agent as the identity registry has it. `wallet` is None where none is set."""

    number: int
    owner: str
    uri: str
    wallet: str | None


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one client said: `value` with `decimals`, the client's own count, and its tags as it wrote them."""

    client: str
    index: int
    value: int
    decimals: int
    tag1: str
    tag2: str
    is_revoked: bool

    @property
    def rating(self) -> int | None:
        """In millionths, of a rating by stars that stands; None for what measures something else."""
        is_star = self.tag1 in ("", STARS) and not self.is_revoked
        return math.rate(self.value, self.decimals) if is_star else None


@dataclass(frozen=True, slots=True)
class Voices:
    """Feedback of one agent. `clients` is how many ever gave any; not `is_whole`, only the newest of it was read."""

    clients: int
    said: tuple[Feedback, ...]
    is_whole: bool

    def on_track(self, track: str | None) -> Voices:
        """What was said under this first tag, and by how many; all of it without one."""
        if track is None:
            return self
        said = tuple(each for each in self.said if each.tag1 == track)
        return replace(self, said=said, clients=len({each.client for each in said}))

    @property
    def ratings(self) -> dict[str, int]:
        """The newest rating of each client, in millionths."""
        found = {}
        for each in sorted(self.said, key=lambda one: one.index):
            if (rating := each.rating) is not None:
                found[each.client] = rating
        return found


@dataclass(frozen=True, slots=True)
class Validation:
    """A question to a validator; `response` of 0 to 100, None as long as nothing of an answer is to be seen.

    The registry does not tell an answer of 0 without a word from none, so that is taken for none.
    """

    request_hash: str
    validator: str
    response: int | None
    tag: str
    last_update: int


STARS: Final = "starred"
"""The standard's word for a rating of 0 to 100."""


def read_agents(reader: ChainReader, at: Mapping[str, str], numbers: Sequence[int]) -> dict[int, AgentOnChain]:
    """Those of the numbers that are registered. Raises what the chain raises."""
    signatures = (erc8004.OWNER_OF, erc8004.AGENT_URI, erc8004.GET_WALLET)
    answers = iter(
        reader.call_many([ReadCall(at[IDENTITY], each, (number,)) for number in numbers for each in signatures])
    )
    found = {}
    for number in numbers:
        owner, uri, wallet = next(answers), next(answers), next(answers)
        if owner.ok:
            paid = str(wallet.values[0]) if wallet.ok else NOBODY
            text = str(uri.values[0]) if uri.ok else ""
            found[number] = AgentOnChain(number, str(owner.values[0]), text, None if paid == NOBODY else paid)
    return found


def read_agent(reader: ChainReader, at: Mapping[str, str], number: int) -> AgentOnChain:
    """One agent. Raises AgentNotFound, and what the chain raises."""
    found = read_agents(reader, at, [number]).get(number)
    if found is None:
        raise AgentNotFound(
            f"no agent {number} is registered on chain {reader.chain_id}", chain_id=reader.chain_id, number=str(number)
        )
    return found


def may_manage(reader: ChainReader, at: Mapping[str, str], agent: AgentOnChain, account: str) -> bool:
    """Whether an account owns the agent, is approved for it, or is an operator of its owner."""
    approved, operator = reader.call_many(
        [
            ReadCall(at[IDENTITY], erc8004.GET_APPROVED, (agent.number,)),
            ReadCall(at[IDENTITY], erc8004.IS_OPERATOR, (agent.owner, account)),
        ]
    )
    # Who does not answer cannot be asked whether he refuses; the registry itself then says no.
    is_named = approved.ok and str(approved.values[0]) == account
    return agent.owner == account or is_named or (operator.ok and bool(operator.values[0]))


def read_voices(reader: ChainReader, at: Mapping[str, str], numbers: Sequence[int]) -> dict[int, Voices]:
    """What was said of each agent: its last clients, of each the newest words, all within MOST_SAID."""
    if not numbers:
        return {}
    registry = at[REPUTATION]
    lists = reader.call_many([ReadCall(registry, erc8004.GET_CLIENTS, (number,)) for number in numbers])
    everyone = {number: list(each.values[0]) if each.ok else [] for number, each in zip(numbers, lists, strict=True)}
    share = max(1, MOST_SAID // len(numbers))
    asked = {number: clients[-min(MOST_CLIENTS, share) :] for number, clients in everyone.items()}
    pairs = [(number, str(client)) for number, clients in asked.items() for client in clients]
    counts = reader.call_many([ReadCall(registry, erc8004.LAST_INDEX, pair) for pair in pairs])
    wanted: list[tuple[int, str, int]] = []
    is_whole = {number: len(asked[number]) == len(clients) for number, clients in everyone.items()}
    for (number, client), count in zip(pairs, counts, strict=True):
        last = int(count.values[0]) if count.ok else 0
        each = max(1, share // len(asked[number]))
        wanted += [(number, client, index) for index in range(last, max(0, last - each), -1)]
        is_whole[number] = is_whole[number] and last <= each
    answers = reader.call_many([ReadCall(registry, erc8004.READ_FEEDBACK, key) for key in wanted])
    said: dict[int, list[Feedback]] = {number: [] for number in numbers}
    for (number, client, index), answer in zip(wanted, answers, strict=True):
        if answer.ok:
            said[number].append(Feedback(client, index, *answer.values))
    return {
        number: Voices(len(everyone[number]), tuple(said[number]), is_whole[number])
        for number in dict.fromkeys(numbers)
    }


def read_validations(reader: ChainReader, at: Mapping[str, str], number: int) -> tuple[Validation, ...]:
    """The agent's last questions to validators, newest first; none where the chain has no such registry."""
    if VALIDATION not in at:
        return ()
    (hashes,) = reader.call(at[VALIDATION], erc8004.LIST_VALIDATIONS, number)
    newest = list(reversed(hashes[-MOST_VALIDATIONS:]))
    answers = reader.call_many([ReadCall(at[VALIDATION], erc8004.VALIDATION_STATUS, (each,)) for each in newest])
    found = []
    for each, answer in zip(newest, answers, strict=True):
        if answer.ok:
            validator, _, response, response_hash, tag, last_update = answer.values
            is_answered = bool(response or tag or any(response_hash))
            shown = int(response) if is_answered else None
            found.append(Validation("0x" + bytes(each).hex(), str(validator), shown, str(tag), int(last_update)))
    return tuple(found)


def count_passed(validations: Sequence[Validation]) -> int:
    """How many different validators answered with at least half."""
    return len({each.validator for each in validations if each.response is not None and each.response >= math.PASSED})


def read_recent(reader: ChainReader, at: Mapping[str, str], number: int, *, days: int) -> set[tuple[str, int]]:
    """Which feedback, as (client, index), the logs of the last days tell of, as far back as one call looks."""
    head = reader.block
    since = head.timestamp - days * 86_400
    first = max(head.number - log_blocks(reader) + 1, reader.first_block_since(since).number, 0)
    topics = encode_event_topics(erc8004.NEW_FEEDBACK, agentId=number)
    logs = reader.logs(address=at[REPUTATION], topics=topics, from_block=first, to_block=head.number)
    return {(each.client_address, each.feedback_index) for each in erc8004.FEEDBACK_GIVEN.list(logs)}


def log_blocks(reader: ChainReader) -> int:
    """How many blocks of logs one call looks through."""
    return MOST_LOG_CHUNKS * get_network(reader.chain_id).max_log_range
