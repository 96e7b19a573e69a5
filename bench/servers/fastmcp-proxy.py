# The proxy of FastMCP: HTTP in front of a server on stdio. Arguments: port, then the command of the server.
import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

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
