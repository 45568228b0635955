"""Names of files and folders by which programs act."""
