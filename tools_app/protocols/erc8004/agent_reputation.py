"""All that the registries say of one agent, put together as figures. It informs whoever asks and decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.protocols.erc8004 import math
from tools_app.protocols.erc8004.reads import (
    AgentOnChain,
    Validation,
    Voices,
    count_passed,
    read_agent,
    read_validations,
    read_voices,
)
from tools_app.protocols.erc8004.registration_file import AgentFile, read_file
from tools_app.toolkit.context import ChainReader


@dataclass(frozen=True, slots=True)
class Standing:
    """An agent, its file as far as it lies on the chain, what clients said and what validators found."""

    agent: AgentOnChain
    file: AgentFile
    voices: Voices
    validations: tuple[Validation, ...]

    @property
    def ratings(self) -> list[int]:
        """One for each client, in millionths."""
        return list(self.voices.ratings.values())

    @property
    def points(self) -> int:
        """What tiers are counted by."""
        return math.count_points(
            is_described=self.file.is_read, ratings=self.ratings, validators_passed=count_passed(self.validations)
        )

    @property
    def identity_score(self) -> int:
        """0 to 100: a file that can be read 40, active 20, a door 20, a wallet that is set 20."""
        has_door = any(each.endpoint for each in self.file.services)
        return 40 * self.file.is_read + 20 * self.file.is_active + 20 * has_door + 20 * (self.agent.wallet is not None)

    @property
    def reputation_score(self) -> int:
        """0 to 100: what the rating is at least, two standard deviations below what is expected; 0 of nobody."""
        return math.make_posterior(self.ratings).least * 100 // math.ONE if self.ratings else 0

    @property
    def validation_score(self) -> int:
        """0 to 100: the mean of what validators answered; 0 where none did."""
        answered = [each.response for each in self.validations if each.response is not None]
        return sum(answered) // len(answered) if answered else 0


def read_standing(reader: ChainReader, at: Mapping[str, str], number: int) -> Standing:
    """Everything about one agent. Raises AgentNotFound, and what the chain raises."""
    agent = read_agent(reader, at, number)
    voices = read_voices(reader, at, [number])[number]
    return Standing(agent, read_file(agent.uri), voices, read_validations(reader, at, number))
