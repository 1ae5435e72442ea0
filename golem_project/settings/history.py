"""The index of logs: how far back, how much, and how many questions to a chain's nodes it may cost."""

from __future__ import annotations

from golem_project.settings.environment import read_flag, read_integer, read_optional_secret, read_text

GOLEM_HISTORY_IS_ON = read_flag("GOLEM_HISTORY_IS_ON", True)
# Of a contract that begins to be followed, so much of its past is read as well.
GOLEM_HISTORY_BACK_DAYS = read_integer("GOLEM_HISTORY_BACK_DAYS", 30)
# Logs go by whole months once all of a month is older than this; their bars stay.
GOLEM_HISTORY_LOG_DAYS = read_integer("GOLEM_HISTORY_LOG_DAYS", 90)
GOLEM_HISTORY_HOUR_DAYS = read_integer("GOLEM_HISTORY_HOUR_DAYS", 400)  # bars of hours; those of days stay
# Questions a minute to the nodes of one chain for the past; each block's header is one. What is new is always read.
GOLEM_HISTORY_QUESTIONS_PER_MINUTE = read_integer("GOLEM_HISTORY_QUESTIONS_PER_MINUTE", 600)
GOLEM_HISTORY_BLOCKS_PER_READ = 500  # at most so many blocks are read and written at once
GOLEM_HISTORY_MOST_BLOCKS_BEHIND = 20_000  # after a longer outage what lies between is filled from behind
# No further past is read of a contract of which so many logs are kept.
GOLEM_HISTORY_MOST_LOGS_PER_CONTRACT = read_integer("GOLEM_HISTORY_MOST_LOGS_PER_CONTRACT", 1_000_000)
GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM = read_integer("GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM", 25)
GOLEM_HISTORY_MOST_CONTRACTS_PER_CHAIN = read_integer("GOLEM_HISTORY_MOST_CONTRACTS_PER_CHAIN", 500)
GOLEM_HISTORY_ROLLBACK_BLOCKS = 128  # a rollback that goes further back is not mended by itself on a public chain
GOLEM_HISTORY_WISH_DAYS = 7  # what nobody watches or holds any more is followed for so long
GOLEM_HISTORY_SILENT_SECONDS = 600  # a chain that could not be followed for so long is told by /readyz
# The past may come from Envio's HyperSync, held against the own node. Without a token it is not asked.
GOLEM_HYPERSYNC_TOKEN = read_optional_secret("GOLEM_HYPERSYNC_TOKEN")
GOLEM_HYPERSYNC_URL = read_text("GOLEM_HYPERSYNC_URL", "https://{chain_id}.hypersync.xyz")
