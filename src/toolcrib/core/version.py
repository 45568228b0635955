"""The version of toolcrib."""

VERSION = "0.1.0"
