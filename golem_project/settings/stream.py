"""The event fabric: who may follow it, how much of it, and how webhooks and subscriptions behave."""

from __future__ import annotations

from golem_project.settings.environment import read_flag, read_integer

# Off in production: a mistake in a payload's declaration must not undo the change it tells about. Tests turn it on.
GOLEM_EVENT_PAYLOADS_ARE_CHECKED = False
# On only where the next line reads the log; else a thread of the process publishes, and nobody waits for it.
GOLEM_EVENT_PUBLICATION_IS_AWAITED = False
# Published events older than this are deleted, but for those a webhook has still to deliver; 0 keeps them all. The
# cockpit plots a week. The audit log is another table and is never shortened.
GOLEM_EVENT_RETENTION_DAYS = read_integer("GOLEM_EVENT_RETENTION_DAYS", 90)

GOLEM_STREAM_MOST_CLIENTS_PER_CALLER = 10  # open event streams of one token or owner, in one server process
# Of all tokens and pages of one owner together, or of all strangers at one golem, in one server process.
GOLEM_STREAM_MOST_CLIENTS_PER_OWNER = read_integer("GOLEM_STREAM_MOST_CLIENTS_PER_OWNER", 100)
GOLEM_STREAM_MOST_PER_ADDRESS = read_integer("GOLEM_STREAM_MOST_PER_ADDRESS", 200)  # a trusted proxy's own is not asked
GOLEM_STREAM_MOST_CLIENTS = 1_000  # open event streams of one server process; each is a socket and a small queue
GOLEM_STREAM_QUEUE_EVENTS = 512  # events that wait for one client before it counts as slow and is cut off
GOLEM_STREAM_SEND_TIMEOUT_SECONDS = 10.0  # a socket that takes nothing for this long is closed
GOLEM_STREAM_HEARTBEAT_SECONDS = 15.0  # a comment keeps proxies from closing a quiet stream, and notices dead clients
GOLEM_STREAM_RECHECK_SECONDS = 2.0  # how long a revoked token, or an account that ended, can go on listening
GOLEM_STREAM_RETRY_MS = 2_000  # what an EventSource waits before it reconnects

GOLEM_WEBHOOK_TIMEOUT_SECONDS = 15.0  # for one delivery as a whole, connecting included
GOLEM_WEBHOOK_MOST_ENDPOINTS_PER_OWNER = 10
# Loopback, private and link-local addresses, and plain http: for tests and a developer's own machine only.
GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES", False)

GOLEM_STREAM_MOST_SUBSCRIPTIONS_PER_GOLEM = 20
GOLEM_STREAM_SUBSCRIPTION_HOURS = 24  # a subscription that is not renewed ends after this
GOLEM_STREAM_BLOCKS_PER_READ = 500  # one eth_getLogs covers at most this many blocks
GOLEM_STREAM_MOST_BLOCKS_BEHIND = 5_000  # after a longer outage the older blocks are given up, and that is told
GOLEM_STREAM_NEW_POOLS_PER_READ = 40  # new pools told after one look; the next look goes on with the following block
GOLEM_STREAM_EVENTS_PER_READ = 200  # events of a pool, or trades of a wallet, told after one look; the next goes on
GOLEM_STREAM_REORG_DEPTH_BLOCKS = read_integer("GOLEM_STREAM_REORG_DEPTH_BLOCKS", 64)

# Requests at once to servers of other people, by kind. A person has a quarter of a kind's places at most, and those who
# were slow a half together. The workers of these queues have as many threads as all places together.
GOLEM_OUTGOING_PLACES = {"WEBHOOK": 6, "ALERT": 3, "NOTICE": 3}
