"""Tests of EigenLayer."""
