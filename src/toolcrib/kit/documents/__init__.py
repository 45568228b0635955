"""Documents as text: PDF, office files, books, mail, notebooks, tables, feeds, pages.

    document = await ctx.use(Documents).read(data, name="report.pdf", deadline=ctx.deadline)
    document.markdown

`is_document` tells from first bytes, a media type or a kind whether only this can show it.
"""
