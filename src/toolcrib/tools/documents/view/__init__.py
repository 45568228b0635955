"""How a document is shown: which part of it, under which header."""
