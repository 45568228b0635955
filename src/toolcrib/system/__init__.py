"""The operating system: child processes, threads, bounded output, the end of stdin."""
