"""The group `browser`: pages that need scripts, forms, logins and web apps."""
