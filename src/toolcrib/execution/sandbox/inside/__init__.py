"""Code that another interpreter runs inside the sandbox, before the program."""
