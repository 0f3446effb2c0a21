"""An MCP server in Python for host/interoptest.

It supports both major versions of the official SDK. With mcp 1.x it is a FastMCP
server for legacy revisions; with mcp 2.x it is an MCPServer, which supports
2026-07-28 too. The arguments are the transport, stdio by default, the port, and
"plain" for streamable HTTP without sessions and streams.
"""

import asyncio
import sys
from typing import Any

from pydantic import BaseModel

try:  # mcp 2.x
    from mcp.server.mcpserver import Context, MCPServer
    from mcp_types import Completion, PromptReference, SamplingMessage, TextContent
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.types import Completion, PromptReference, SamplingMessage, TextContent

server = MCPServer("python", instructions="Tools for the interoperability tests.")

withdrawn = 0
withdrawals = asyncio.Condition()


class Weather(BaseModel):
    city: str
    celsius: float
    winds: list[int]


class Answer(BaseModel):
    color: str
    sure: bool = False


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def shout(text: str, times: int = 1) -> str:
    """Say something louder, without blocking anybody."""
    await asyncio.sleep(0)
    return " ".join([text.upper()] * times)


@server.tool()
def weather(city: str) -> Weather:
    """Return something structured."""
    return Weather(city=city, celsius=-3.5, winds=[1, 2, 3])


@server.tool()
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Count, and say how far it is."""
    for i in range(1, steps + 1):
        await ctx.report_progress(i, steps, f"step {i}")
    return f"counted to {steps}"


@server.tool()
async def speak(level: str, text: str, ctx: Context) -> str:
    """Log something."""
    await ctx.log(level, text)
    return "said"


@server.tool()
async def wait(ctx: Context) -> str:
    """Say that it waits, and wait; a call that is cancelled is counted."""
    global withdrawn
    await ctx.report_progress(0, 1)
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        withdrawn += 1
        # Nothing can be awaited here: the scope is cancelled.
        asyncio.get_running_loop().create_task(announce())
        raise
    return "waited"


async def announce() -> None:
    async with withdrawals:
        withdrawals.notify_all()


@server.tool()
async def reach(number: int) -> int:
    """Return when so many calls of wait were cancelled."""
    async with withdrawals:
        await withdrawals.wait_for(lambda: withdrawn >= number)
    return withdrawn


@server.tool()
async def sample(prompt: str, ctx: Context) -> str:
    """Ask the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    result = await ctx.session.create_message([message], max_tokens=50)
    return f"{result.model} said {result.content.text}"


@server.tool()
async def ask(ctx: Context) -> str:
    """Ask the user."""
    result = await ctx.elicit("Which color?", Answer)
    if result.action != "accept":
        return result.action
    return f"{result.data.color} {result.data.sure}"


@server.tool()
async def roots(ctx: Context) -> list[str]:
    """List the client's roots."""
    result = await ctx.session.list_roots()
    return [str(r.uri) for r in result.roots]


@server.tool()
async def grow(name: str, ctx: Context) -> str:
    """Add a tool called name, and say so."""

    def grown() -> str:
        return f"I am {name}"

    server.add_tool(grown, name=name, description="Was not there before.")
    await ctx.session.send_tool_list_changed()
    if hasattr(ctx, "notify_tools_changed"):
        await ctx.notify_tools_changed()
    return "grown"


@server.resource("note://text", name="text", mime_type="text/plain")
def text() -> str:
    """Some text."""
    return "Grüße aus Python 🐍\nzweite Zeile"


@server.resource("note://blob", name="blob", mime_type="application/octet-stream")
def blob() -> bytes:
    """All bytes there are."""
    return bytes(range(256))


@server.resource("note://by-number/{number}", name="numbered")
def numbered(number: str) -> str:
    """A note by its number."""
    return f"note {number}"


@server.prompt()
def review(code: str, style: str = "kind") -> str:
    """Ask for a review."""
    return f"Review this in a {style} way: {code}"


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion | None:
    if isinstance(ref, PromptReference) and argument.name == "style":
        return Completion(values=[s for s in ("kind", "strict", "terse") if s.startswith(argument.value)])
    if argument.name == "number":
        return Completion(values=[argument.value + str(i) for i in range(3)])
    return None


if __name__ == "__main__":
    arguments = dict(zip(("transport", "port", "plain"), sys.argv[1:]))
    transport = arguments.get("transport", "stdio")
    options: dict[str, Any] = {"port": int(arguments.get("port", 0))}
    if "plain" in arguments:
        options |= {"json_response": True, "stateless_http": True}
    if transport == "stdio":
        server.run()
    elif hasattr(server.settings, "port"):  # mcp 1.x
        for name, value in options.items():
            setattr(server.settings, name, value)
        server.run(transport)
    else:
        server.run(transport, **options)
