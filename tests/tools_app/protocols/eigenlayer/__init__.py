"""Tests of Ethena."""
