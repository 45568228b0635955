"""A plugin by LM Studio's own client for Python, run as a program: HOST:PORT FOLDER."""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

from lmstudio.plugin._dev_runner import DevPluginClient  # noqa: E402
from lmstudio.plugin.runner import PluginClient  # noqa: E402

SOURCE = '''
from lmstudio.plugin import BaseConfigSchema, config_field

class ConfigSchema(BaseConfigSchema):
    loud: bool = config_field(label="Loud", hint="Shout", default=True)

async def list_provided_tools(ctl):
    async def add(a: int, b: int = 5) -> int:
        """Add two numbers."""
        from lmstudio.plugin import get_tool_call_context_async
        await get_tool_call_context_async().notify_status("adding")
        return a + b
    return [add]

async def preprocess_prompt(ctl, message):
    status = await ctl.notify_start("looking")
    await status.notify_done("seen")
    changed = message.to_dict()
    changed["content"] = [{"type": "text", "text": "by the referee"}]
    return changed
'''


async def main(host: str, folder: Path) -> None:
    manifest = {"type": "plugin", "runner": "python", "owner": "referee", "name": "python"}
    (folder / "src").mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "src" / "plugin.py").write_text(SOURCE)
    registrar = DevPluginClient(folder)
    registrar._api_host = host
    async with registrar, registrar.register_dev_plugin() as (identifier, passkey):
        plugin = PluginClient(folder, identifier, passkey)
        plugin._api_host = host
        async with plugin:
            await plugin.run_plugin()


asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
