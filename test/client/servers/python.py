# A server with the official SDK for Python, version 2, on stdio.
from mcp.server import MCPServer

server = MCPServer("python-peer")


@server.tool()
def echo(text: str) -> str:
    """Returns the text."""
    return text


@server.resource("note://one")
def note() -> str:
    """A note."""
    return "first note"


server.run()
