"""Programs in the language of jq over a JSON text, in a process of their own."""
