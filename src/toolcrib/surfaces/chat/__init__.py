"""`toolcrib chat`: a conversation in the terminal, over the loop that agents use."""
