"""What a search provider is, and how one is asked."""
