"""Shared mechanics that know no tool."""
