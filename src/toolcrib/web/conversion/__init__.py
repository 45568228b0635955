"""What a document is, and what the handlers of its kinds share."""
