"""Markdown as documents: DOCX, XLSX, PPTX, PDF and HTML."""
