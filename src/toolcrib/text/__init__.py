"""Text: token counts, ranking by words, passages, cleaning, cutting, fencing what is untrusted."""
