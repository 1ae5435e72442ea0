"""Sets every safety number, with its unit in its name.

Per-golem rows in the admin override the limits; these are what a new golem starts with.
"""

from __future__ import annotations

from golem_project.settings.environment import VAR_DIR, read_integer, read_secret_path, read_text

GOLEM_PERMIT_TTL_SECONDS = 60
GOLEM_COMMIT_WAIT_SECONDS = 15  # how long commit_action waits before it answers 202
GOLEM_COMMIT_WAITERS_PER_KEY = 4
GOLEM_COMMIT_LEASE_SECONDS = 30  # a worker that holds a commit longer than this without renewing is taken for dead
GOLEM_RECEIPT_WAIT_SECONDS = 30  # after this the outcome is UNKNOWN and the sweep looks it up
GOLEM_FIRST_LOOK_SECONDS = 0.05  # how long a commit's thread looks for receipts itself; later the follower does
GOLEM_COMMITS_AT_ONCE_PER_CHAIN = read_integer("GOLEM_COMMITS_AT_ONCE_PER_CHAIN", 3)  # in one worker, of 4 threads
GOLEM_COMMITS_AT_ONCE_PER_ACCOUNT = read_integer("GOLEM_COMMITS_AT_ONCE_PER_ACCOUNT", 2)  # in one worker
# How long a commit waits for a worker that has its key, where keys are files of single machines; then it is refused.
GOLEM_KEY_WAIT_SECONDS = read_integer("GOLEM_KEY_WAIT_SECONDS", 0)
GOLEM_FOLLOWER_LEASE_SECONDS = 5  # a follower that says nothing for so long is replaced by another process's
GOLEM_CHAIN_DOWN_AFTER_SECONDS = 3  # a chain whose node answers nothing for so long takes no new commits
GOLEM_BLOCKED_AFTER_SECONDS = 30  # an account whose oldest sent payload waits this long takes no new commits
GOLEM_DOUBT_SECONDS = 60  # receipts and balances that contradict each other are looked at again for this long
GOLEM_PREVIEW_WAIT_SECONDS = 20
GOLEM_SWEEP_EVERY_SECONDS = 3  # how often unfinished permits are handed to workers; refusals tell the next time
GOLEM_RECONCILE_EVERY_SECONDS = 5  # how often stored transactions are held against the chain
GOLEM_STUCK_AFTER_SECONDS = 90  # a sent transaction that blocks its account this long is replaced
GOLEM_FEE_RAISE_BPS = 1_250  # a replacement raises both fees by this; nodes ask for 10 %
GOLEM_HALT_WAIT_SECONDS = 20  # how long emergency_halt waits for cancellations and revocations

GOLEM_APPROVAL_HOURS = 24  # a request nobody decided by then is rejected
GOLEM_APPROVAL_OPEN_PER_AGENT = 10  # open requests of one agent and one risk tier, so that no tier floods another
GOLEM_DENIED_CALL_DAYS = 30  # how long a refused plan is kept for back-tests
GOLEM_CHANGE_CLAIM_SECONDS = 25  # a worker that executes a change longer is taken for dead; the sweep takes 5 s more
GOLEM_WARDEN_WINDOW_SECONDS = 3_600  # how long an announced action may still be executed after its delay

GOLEM_CAGE_MIRROR_MAX_AGE_SECONDS = 30  # a cage not seen at the newest block for longer refuses writes

GOLEM_IDEMPOTENCY_HOURS = 24  # how long a first answer is replayed
GOLEM_IDEMPOTENCY_LOCK_SECONDS = 60  # a request that runs longer is taken for dead and its key is free again

GOLEM_AUDIT_CHECKPOINT_ENTRIES = 1_000  # a signed checkpoint every so many audit entries, and once a day
# Signs checkpoints where there is such a file; else the key is derived from the passphrase of the keystore.
GOLEM_AUDIT_KEY_FILE = read_text("GOLEM_AUDIT_KEY_FILE", str(VAR_DIR / "audit_key.pem"))

# Then what permits were judged on, and the logs of receipts, are laid away, unless an owner chose; never fewer than 90.
GOLEM_RECORDS_KEPT_DAYS = read_integer("GOLEM_RECORDS_KEPT_DAYS", 731)
GOLEM_VALUES_KEPT_DAYS = read_integer("GOLEM_VALUES_KEPT_DAYS", 731)  # two tax years; never fewer than 70

GOLEM_LIMIT_PER_TRANSACTION_MICRO_USD = 10_000_000_000  # $10,000
GOLEM_LIMIT_PER_TICK_MICRO_USD = 50_000_000_000  # $50,000
GOLEM_LIMIT_PER_SESSION_MICRO_USD = 50_000_000_000  # $50,000
GOLEM_LIMIT_PER_DAY_MICRO_USD = 100_000_000_000  # $100,000 in a rolling 24 h
GOLEM_LIMIT_HOT_LANE_MICRO_USD = 1_000_000_000  # $1,000: above it the safety-guardian must approve
GOLEM_LIMIT_TRADING_COSTS_MICRO_USD = 500_000_000  # $500 for fees, slippage and price impact in a rolling 24 h
GOLEM_LIMIT_WRITES_PER_HOUR = 20
# Of the last 20 calls of an hour; 20 is no limit.
GOLEM_LIMIT_ALIKE_CALLS = 20
GOLEM_VALUE_DRIFT_BPS = 1_000  # what is signed may be worth this much more than when it was judged and reserved
GOLEM_LIMIT_SLIPPAGE_BPS = 100
GOLEM_LIMIT_PRICE_IMPACT_BPS = 300

GOLEM_VENUE_TRUST_CLEAN_OUTCOMES = 5  # so many outcomes as simulated, one after the other, restore trust in a venue
GOLEM_GAS_LIMIT_MARGIN_BPS = 2_000  # gas limit = simulated gas before refunds x 1.2
GOLEM_DUST_MICRO_USD = 10_000  # $0.01: below it an amount may be whole units written as base units

GOLEM_KEYSTORE_SCRYPT_N = 2**18  # cost of opening a keystore file, about 0.7 s once per process
GOLEM_KEYSTORE_DIR = VAR_DIR / "keystore"
GOLEM_KEYSTORE_PASSPHRASE_FILE = read_secret_path("GOLEM_KEYSTORE_PASSPHRASE", str(VAR_DIR / "keystore_passphrase"))
GOLEM_KEYSTORE_PASSPHRASE = read_text("GOLEM_KEYSTORE_PASSPHRASE")

GOLEM_RELAYER_ADDRESS = read_text("GOLEM_RELAYER_ADDRESS")  # its key lies in the keystore; it only pays for gas
GOLEM_RELAYER_ADDRESS_FILE = str(VAR_DIR / "relayer_address")  # written by `manage.py relayer --create`
GOLEM_RELAYER_MOST_GAS = 4_000_000  # of one relayed transaction, in gas units; 48 new rules take 3 million
GOLEM_RELAYER_MOST_WEI_PER_DAY = 5 * 10**16  # what it may spend on gas within 24 h and per chain
GOLEM_RELAYER_WAIT_SECONDS = 1  # how long a worker waits for a receipt before the sweep looks again
