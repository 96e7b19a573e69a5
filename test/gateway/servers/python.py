# A server with the official SDK for Python, version 2, on stdio, that asks and samples.
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel

server = MCPServer("python-upstream")


class Person(BaseModel):
    name: str


@server.tool()
def echo(text: str) -> str:
    """Returns the text."""
    return text


@server.tool()
async def ask(ctx: Context) -> str:
    """Asks for a name."""
    answer = await ctx.elicit("Who are you?", Person)
    return f"Hello, {answer.data.name}!"


server.run()
