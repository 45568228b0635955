"""The command line. Each command is one small file, loaded only when it is the one asked for."""
