"""Tests of Curve."""
