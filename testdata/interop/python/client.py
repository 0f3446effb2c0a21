"""An MCP client in Python for host/interoptest.

It supports both major versions of the official SDK: mcp 1.x has legacy revisions
only, mcp 2.x both eras. The arguments are the gateway's URL, the client's name and
its era. The client exercises all features and prints a report for the test.
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

url, name, era = sys.argv[1:]
logs: list[Any] = []
changes = 0
updated: list[str] = []
told = asyncio.Condition()


async def elicit(_: Any, params: Any) -> types.ElicitResult:
    schema = getattr(params, "requested_schema", None) or params.requestedSchema
    return types.ElicitResult(action="accept", content={name: "Ada" for name in schema["properties"]})


async def sample(_: Any, params: Any) -> types.CreateMessageResult:
    return types.CreateMessageResult(role="assistant", model="m1", content=types.TextContent(type="text", text="Paris"))


async def logged(params: Any) -> None:
    async with told:
        logs.append(params.data)
        told.notify_all()


async def heard(message: Any) -> None:
    """Record a change: a notification, or an event of a subscription."""
    global changes
    message = getattr(message, "root", message)
    async with told:
        if type(message).__name__ in ("ToolListChangedNotification", "ToolsListChanged"):
            changes += 1
        elif type(message).__name__ == "ResourceUpdatedNotification":
            updated.append(str(message.params.uri))
        elif type(message).__name__ == "ResourceUpdated":
            updated.append(str(message.uri))
        told.notify_all()


async def until(fits: Any) -> None:
    async with told:
        await told.wait_for(fits)


@contextlib.asynccontextmanager
async def connected() -> Any:
    if modern_sdk:
        mode = "2026-07-28" if era == "modern" else "legacy"
        async with Client(
            url, mode=mode, elicitation_callback=elicit, sampling_callback=sample, logging_callback=logged,
            log_level="warning", message_handler=heard, client_info=types.Implementation(name=name, version="1"),
        ) as client:  # fmt: skip
            yield client, client.protocol_version
        return
    async with streamable_http_client(url) as (read, write, _):
        info = types.Implementation(name=name, version="1")
        async with ClientSession(
            read, write, elicitation_callback=elicit, sampling_callback=sample, logging_callback=logged,
            message_handler=heard, client_info=info,
        ) as session:  # fmt: skip
            yield session, (await session.initialize()).protocolVersion


async def follow(subscription: Any) -> None:
    async for event in subscription:
        await heard(event)


def text(result: Any) -> str:
    return "".join(getattr(c, "text", "") for c in result.content)


async def use(client: Any, report: dict[str, Any]) -> None:
    async def call(tool: str, arguments: dict[str, Any], **more: Any) -> str:
        return text(await client.call_tool(tool, arguments, **more))

    async def tools() -> list[str]:
        return [t.name for t in (await client.list_tools()).tools]

    report["tools"] = await tools()
    report["sum"] = await call("demo__add", {"a": 2, "b": 40})
    report["everything"] = await call("every__get-sum", {"a": 2, "b": 3})
    report["resource"] = (await client.read_resource("demo://about")).contents[0].text
    report["prompt"] = (await client.get_prompt("demo__introduce", {"who": "Ada"})).messages[0].content.text
    report["elicited"] = {
        "old": await call("old__test_elicitation", {"message": "Who?"}),
        "new": await call("new__test_input_required_result_elicitation", {}),
    }
    report["sampled"] = {
        "old": await call("old__test_sampling", {"prompt": "Where?"}),
        "new": await call("new__test_input_required_result_sampling", {}),
    }
    for key in ("progress", "logs", "cancelled", "grown"):
        report[key] = {}
    for of in ("go", "goold"):
        steps: list[float] = []

        async def progressed(progress: float, total: Any, message: Any) -> None:
            steps.append(progress)

        await call(f"{of}__count", {"steps": 3, "millis": 60}, progress_callback=progressed)
        report["progress"][of] = steps

        said = f"{of} for {name}"
        await call(f"{of}__speak", {"level": "warning", "text": said})
        await until(lambda: said in logs)
        report["logs"][of] = True

        report["cancelled"][of] = await cancels(call, of)

        await call(f"{of}__grow", {"name": f"sprout-{name}"})
        seen = 0
        while f"{of}__sprout-{name}" not in await tools():
            await until(lambda: changes > seen)
            seen = changes
        await until(lambda: changes > 0)  # the new list may arrive before the notification
        report["grown"][of] = True


async def cancels(call: Any, of: str) -> bool:
    began = asyncio.Event()

    async def progressed(progress: float, total: Any, message: Any) -> None:
        began.set()

    waits = asyncio.create_task(call(f"{of}__wait", {}, progress_callback=progressed))
    await began.wait()
    waits.cancel()
    try:
        await waits
    except asyncio.CancelledError:
        return True
    return False


async def main() -> None:
    report: dict[str, Any] = {}
    uri = "go://resource/one"
    async with contextlib.AsyncExitStack() as stack:
        client, report["revision"] = await stack.enter_async_context(connected())
        following = None
        if era == "modern":
            listening = client.listen(tools_list_changed=True, resource_subscriptions=[uri])
            following = asyncio.create_task(follow(await stack.enter_async_context(listening)))
        else:
            await client.set_logging_level("warning")
            await client.subscribe_resource(uri)
        await use(client, report)
        await client.call_tool("go__touch", {"uri": uri})
        await until(lambda: uri in updated)
        report["updated"] = True
        if following:
            following.cancel()
    print(json.dumps(report))


asyncio.run(main())
