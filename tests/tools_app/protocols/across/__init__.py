"""Tests of Across."""
