"""What the files of a project say of it."""
