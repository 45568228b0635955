"""Documents: PDF, office files, books, mail, tables."""
