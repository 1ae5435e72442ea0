"""Tests of people: accounts that end and come back."""
