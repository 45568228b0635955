"""Small documents that are text: one of each kind, with the same marker."""

from __future__ import annotations

import json
from email.message import EmailMessage


def csv() -> bytes:
    return b"Quarter,Ships\nQ1,1001\nKESTREL,2\n"


def json_text() -> bytes:
    return b'{"ships":[{"name":"KESTREL","tons":52}]}'


def xml() -> bytes:
    return b'<?xml version="1.0"?><ships><ship tons="52">KESTREL</ship></ships>'


def rss() -> bytes:
    return b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour &amp; news</title>
<link>https://e.example/</link><description>About</description><item><title>One</title>
<link>https://e.example/1</link><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate>
<description><![CDATA[<p>marker <b>KESTREL</b></p>]]></description></item></channel></rss>"""


def atom() -> bytes:
    return b"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour
</title><entry><title>One</title><link href="https://e.example/1"/><updated>2026-01-05T10:00:00Z
</updated><author><name>A. Writer</name></author><summary>marker KESTREL</summary></entry></feed>
"""


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "a@b.example", "c@d.example"
    message["Subject"], message["Date"] = "Harbour", "Mon, 05 Jan 2026 10:00:00 +0000"
    message.set_content("Hello, marker KESTREL.\n")
    message.add_attachment(b"%PDF-x", maintype="application", subtype="pdf", filename="r.pdf")
    return message.as_bytes()


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "marker KESTREL"]},
        {
            "cell_type": "code",
            "source": "f(1)",
            "outputs": [{"output_type": "stream", "text": ["OUTPUT"]}],
        },
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()
