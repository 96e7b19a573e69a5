# Gives a scenario of the official suite to the client that runs at a port, and ends with its exit code: client-request.sh <port> <url>
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf '%s\n' "$2" "$MCP_CONFORMANCE_SCENARIO" "$MCP_CONFORMANCE_PROTOCOL_VERSION" "$MCP_CONFORMANCE_CONTEXT" >&3
read -r code <&3
exit "${code:-1}"
