"""Descriptions of services: their operations, what they take, and where it goes."""
