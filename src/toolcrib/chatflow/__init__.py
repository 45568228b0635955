"""What happens to a prompt before the model sees it."""
