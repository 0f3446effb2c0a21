"""A strict MCP client for host/interoptest, like clients/odd.mjs.

It supports both major versions of the official SDK. The arguments are the gateway's
URL and the client's era.
"""

import asyncio
import contextlib
import json
import sys
from typing import Any

try:  # mcp 2.x
    import mcp_types as types
    from mcp import Client

    modern_sdk = True
except ImportError:  # mcp 1.x
    from mcp import ClientSession, types
    from mcp.client.streamable_http import streamable_http_client

    modern_sdk = False

url, era = sys.argv[1:]
report: dict[str, Any] = {"tools": [], "prompts": [], "resources": [], "templates": [], "texts": {}, "errors": {}, "failed": {}}


@contextlib.asynccontextmanager
async def connected() -> Any:
    if modern_sdk:
        async with Client(url, mode="2026-07-28" if era == "modern" else "legacy") as client:
            yield client
        return
    async with streamable_http_client(url) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            yield session


async def attempt(what: str, use: Any) -> Any:
    try:
        return await asyncio.wait_for(use(), 30)
    except Exception as e:
        error = getattr(e, "error", e)
        if isinstance(getattr(error, "code", None), int):
            report["errors"][what] = {"code": error.code, "message": error.message}
        else:
            report["failed"][what] = f"{type(e).__name__}: {e}"[:500]


async def listed(what: str, ask: Any, member: str, id: str) -> None:
    cursor = None
    while True:
        page = await attempt(what, lambda: ask(**({"cursor": cursor} if cursor else {})))
        if page is None:
            return
        items = getattr(page, member, None)
        if items is None:  # mcp 2.x has other names than the wire
            items = page.resource_templates
        for item in items:
            value = getattr(item, id, None) or getattr(item, "uri_template", None)
            report[what].append(str(value))
        cursor = getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)
        if not cursor:
            return


async def main() -> None:
    async with connected() as client:
        await listed("tools", client.list_tools, "tools", "name")
        await listed("prompts", client.list_prompts, "prompts", "name")
        await listed("resources", client.list_resources, "resources", "uri")
        await listed("templates", client.list_resource_templates, "resourceTemplates", "uriTemplate")
        for name in report["tools"]:
            result = await attempt(name, lambda: client.call_tool(name, {}))
            if result is not None:
                report["texts"][name] = next((b.text for b in result.content if b.type == "text"), "")
        for name in report["prompts"]:
            if "__c_" in name:
                ref = types.PromptReference(type="ref/prompt", name=name)
                await attempt(name, lambda: client.complete(ref, {"name": "a", "value": ""}))
            else:
                await attempt(name, lambda: client.get_prompt(name, {"a": "x", "who": "x"}))
        for uri in report["resources"]:
            await attempt(uri, lambda: client.read_resource(uri))
    print(json.dumps(report))


asyncio.run(main())
