"""Pure functions of bytes, run in a child process that can be killed.

For work on content that others wrote and that may hang, crash or fill the memory::

    PAGE = Task("package.module:extract", "Reading the page", seconds=10, megabytes=1000)

    answer, content = await ctx.use(Workers).run(PAGE, {"url": url}, html, ctx.deadline)

The function stands in a module of its own, with few imports::

    def prepare() -> None:
        extract({"url": ""}, b"<p>tiny</p>")

    def extract(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]: ...

`request` and the first half of the answer are JSON values, the other halves are bytes.
A `ToolError` that it raises is raised again by `run`. `prepare`, where there is one,
runs once when a child starts and must load all that is imported late (best by doing the
work once on something tiny): after it no file and no socket can be opened.

A child stays for the next call of the same task, since loading a library takes longer
than most work. It is ended after a while without calls, after many calls, when it grew,
and at once when a call is cancelled, runs out of its time or fails in an odd way.
"""
