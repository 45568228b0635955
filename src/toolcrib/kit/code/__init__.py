"""The structure of source code: outlines, symbols, and every reference to one."""
