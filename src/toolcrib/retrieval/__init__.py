"""Finding passages: chunks of texts, an index of their words and vectors, one ranking of both."""
