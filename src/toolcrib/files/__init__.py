"""Files: checked paths, content, search, edits, undoable changes, archives, repositories."""
