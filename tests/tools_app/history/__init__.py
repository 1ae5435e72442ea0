"""Tests of this folder's namesake."""
