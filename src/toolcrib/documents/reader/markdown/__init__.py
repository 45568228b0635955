"""The chosen part of a page as Markdown and plain text.

The tree is first brought into a shape that turbohtml's converter writes well (formulas, code,
pictures, notes, tables), then converted, then freed of escapes that change nothing.
"""
