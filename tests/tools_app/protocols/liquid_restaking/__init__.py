"""Tests of liquid restaking."""
