"""The workspace as a whole: where one is, what is there."""
