// How to connect clients to a running server: commands and configuration to copy.

/** The URL for clients: the public URL, or the listening address with a host that clients can connect to. */
export function addressForClients(listening: string, publicUrl: string | undefined, path: string): string {
  if (publicUrl !== undefined) {
    const url = new URL(publicUrl);
    return url.pathname === '/' ? new URL(path, url).href : url.href;
  }
  // 0.0.0.0 and :: mean "all addresses"; clients cannot connect to them.
  return listening.replace(/^(https?):\/\/(?:0\.0\.0\.0|\[::\])(?=[:/])/, '$1://127.0.0.1');
}

/** The lines printed after "listening on". Tokens are placeholders, because this output ends up in logs. */
export function setupText(url: string, authenticated: boolean): string {
  const header = authenticated ? `, "headers": { "Authorization": "Bearer <token>" }` : '';
  const bearer = authenticated ? ' --token "<token>"' : '';
  const codex = authenticated ? '\n                                 bearer_token_env_var = "MOORING_TOKEN"' : '';
  const flag = authenticated ? ' --header "Authorization: Bearer <token>"' : '';
  return `
  Connect a client:

  Claude Code    claude mcp add --transport http mooring ${url}${flag}
  VS Code        mcp.json        { "servers": { "mooring": { "type": "http", "url": "${url}"${header} } } }
  Cursor         mcp.json        { "mcpServers": { "mooring": { "url": "${url}"${header} } } }
  Gemini CLI     settings.json   { "mcpServers": { "mooring": { "httpUrl": "${url}"${header} } } }
  Codex          config.toml     [mcp_servers.mooring]
                                 url = "${url}"${codex}
  Command line   npx mooring tools ${url}${bearer}

  Or configure a client automatically: npx mooring install <client> --url ${url}${flag}
  Press Ctrl-C to stop the server.

`;
}
