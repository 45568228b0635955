"""toolcrib as a plugin of LM Studio: its tools, its stages of a prompt, and a model."""
