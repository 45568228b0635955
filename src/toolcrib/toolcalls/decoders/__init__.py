"""Decoders: one module for each way in which formats write a name and its arguments."""
