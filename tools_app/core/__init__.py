"""What every app stands on: audit log, events, clock, errors, taint, hashing, locks. Imports nothing of ours."""
