"""The stages of a prompt, one file each; `chatflow/flow.py` knows their order."""
