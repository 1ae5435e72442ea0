"""Agents sign in by a code that their owner types (RFC 8628), and act with tokens that live for minutes."""
