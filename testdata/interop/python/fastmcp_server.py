"""An MCP server for host/interoptest made with the package fastmcp.

The argument is the port. It has sessions over streamable HTTP, and one tool.
"""

import sys

from fastmcp import FastMCP

server = FastMCP("fastmcp")


@server.tool
def echo(text: str) -> str:
    """Repeat a text."""
    return text


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="info")
