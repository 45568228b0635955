"""What lasts beyond a conversation: plans, memories, projects, and what earlier ones did."""
