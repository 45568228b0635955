"""The boundary around programs that a model asked for: nothing beyond what it needs is there."""
