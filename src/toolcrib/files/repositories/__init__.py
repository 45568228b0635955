"""Git repositories, judged on bytes: what git would obey or run of them, and their credentials."""
