# A client with the official SDK for Python, version 2: python.py <mode> <url | command arguments…>
# Reads [[tool, arguments], …] from standard input, calls them, and prints what it saw as JSON.
import asyncio
import json
import os
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters


async def elicit(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context, params):
    text = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", model="a-model", content=text)


async def main():
    mode, *target = sys.argv[1:]
    server = target[0]
    if not server.startswith("http"):
        server = StdioServerParameters(command=server, args=target[1:], env=dict(os.environ))
    async with Client(server, mode=mode, elicitation_callback=elicit, sampling_callback=sample) as client:
        tools = []
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        results = []
        for name, arguments in json.load(sys.stdin):
            result = await client.call_tool(name, arguments)
            results.append("".join(block.text for block in result.content if block.type == "text"))
        print(json.dumps({"revision": client.protocol_version, "tools": tools, "results": results}))


asyncio.run(main())
