"""Tests of Compound V3."""
