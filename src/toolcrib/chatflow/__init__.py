"""What happens to a prompt on its way to a model: stages, one file each, and the context guard."""
