"""The structure of source code: outlines, symbols, references, renames and refactorings."""
