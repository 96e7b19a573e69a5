# The proxy of FastMCP: HTTP in front of a server on stdio. Arguments: port, then the command of the server.
import os
import sys
import threading

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


def end_with_parent():
    sys.stdin.read()
    os._exit(0)


# The process that started it is killed at the end, and its end of the pipe is closed then.
threading.Thread(target=end_with_parent, daemon=True).start()
port, command, *args = sys.argv[1:]
proxy = create_proxy(StdioTransport(command=command, args=args), name="proxy")
proxy.run(
    transport="http",
    host="127.0.0.1",
    port=int(port),
    path="/mcp",
    json_response=True,
    show_banner=False,
    uvicorn_config={"log_level": "error", "access_log": False},
)
