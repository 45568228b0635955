"""Git repositories by the git program, which obeys nothing that the repository itself says."""
