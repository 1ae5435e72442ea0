"""Tests of Yearn."""
