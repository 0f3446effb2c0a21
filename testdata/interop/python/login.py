"""An MCP client in Python that logs in with the program BROWSER.

It uses major version 2 of the official SDK. The arguments are the gateway's URL and
the client's era. It reads JSON-RPC requests, a line each: tools/call,
resources/subscribe, and refresh, which gets a new token before the next request. It
reports every HTTP request, and the resources that changed, as notifications.
"""

import asyncio
import json
import os
import sys
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

url, era = sys.argv[1:]


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


async def observe(response: httpx2.Response) -> None:
    request = response.request
    form = {}
    if request.headers.get("content-type") == "application/x-www-form-urlencoded":
        form = dict(parse_qsl(request.content.decode()))
    send(
        method="http",
        params={
            "method": request.method, "url": str(request.url), "status": response.status_code,
            "challenge": response.headers.get("www-authenticate", ""),
            "token": request.headers.get("authorization", ""),
            "session": request.headers.get("mcp-session-id", ""),
            "lastEvent": request.headers.get("last-event-id", ""),
            "form": form,
        },
    )  # fmt: skip


class Storage:
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def heard(message: Any) -> None:
    message = getattr(message, "root", message)
    if type(message).__name__ == "ResourceUpdatedNotification":
        send(method="updated", params={"uri": str(message.params.uri)})


async def main() -> None:
    redirected: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
    browsers = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone")
        await writer.drain()
        writer.close()
        if not redirected.done():
            redirected.set_result(dict(parse_qsl(urlsplit(target).query)))

    async def browse(address: str) -> None:
        browsers.append(await asyncio.create_subprocess_exec(os.environ["BROWSER"], address, stdout=asyncio.subprocess.DEVNULL))

    async def result() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**await redirected)

    callback = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = callback.sockets[0].getsockname()[1]
    login = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="interoptest", redirect_uris=[f"http://127.0.0.1:{port}/callback"], token_endpoint_auth_method="none"
        ),
        storage=Storage(),
        redirect_handler=browse,
        callback_handler=result,
    )
    mode = "2026-07-28" if era == "modern" else "legacy"
    timeout = httpx2.Timeout(30, read=300)
    async with (
        httpx2.AsyncClient(auth=login, timeout=timeout, event_hooks={"response": [observe]}) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, message_handler=heard) as client,
        asyncio.TaskGroup() as work,
    ):
        send(method="connected", params={})

        async def act(id: Any, method: str, params: dict[str, Any]) -> None:
            try:
                done: Any = {}
                if method == "tools/call":
                    done = (await client.call_tool(params["name"], params["arguments"])).model_dump(mode="json", by_alias=True)
                elif method == "resources/subscribe":
                    await client.subscribe_resource(params["uri"])
                elif method == "refresh":
                    login.context.token_expiry_time = 1  # long ago
                send(id=id, result=done)
            except Exception as error:
                send(id=id, error={"code": 0, "message": repr(error)})

        while line := await asyncio.to_thread(sys.stdin.readline):
            message = json.loads(line)
            work.create_task(act(message["id"], message["method"], message["params"]))
    callback.close()


asyncio.run(main())
