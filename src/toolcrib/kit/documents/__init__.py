"""Documents as text: PDF, office files, books, mail, notebooks, tables, feeds, pages.

    document = await ctx.use(Documents).read(data, name="report.pdf", deadline=ctx.deadline)
    document.markdown

`is_document` tells from first bytes, a media type or a kind whether only this can show it.
"""

from toolcrib.kit.documents.documents import Documents
from toolcrib.kit.documents.kinds import is_document, kind_of_document
from toolcrib.kit.documents.text import DocumentText, Page

__all__ = ["DocumentText", "Documents", "Page", "is_document", "kind_of_document"]
