"""What servers answer for a URL that somebody wants to read: fetched once, checked, kept."""
