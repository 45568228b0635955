"""Pictures: what they are, edited, compared, and made fit to be read; decoded in a child."""
