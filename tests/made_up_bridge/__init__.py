"""A made-up bridge between two chains, dropped in as a protocol for one test."""
