"""Tables, databases, conversions between formats, and charts."""
