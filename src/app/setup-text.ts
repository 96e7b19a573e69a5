// What a person pastes into a client to use a server that listens.

/** Where clients on this side reach a server: its public URL, or its own address with a host that can be dialled. */
export function addressForClients(listening: string, publicUrl: string | undefined, path: string): string {
  if (publicUrl !== undefined) {
    const url = new URL(publicUrl);
    return url.pathname === '/' ? new URL(path, url).href : url.href;
  }
  // "Every address of this machine" is something to listen on, not something to connect to.
  return listening.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\])(?=[:/])/, 'http://127.0.0.1');
}

/** The lines printed under "listening on". Tokens are placeholders: what is printed here ends up in logs. */
export function setupText(url: string, authenticated: boolean): string {
  const header = authenticated ? `, "headers": { "Authorization": "Bearer <token>" }` : '';
  const bearer = authenticated ? ' --token "<token>"' : '';
  const codex = authenticated ? '\n                                 bearer_token_env_var = "MOORING_TOKEN"' : '';
  const flag = authenticated ? ' --header "Authorization: Bearer <token>"' : '';
  return `
  Tie a client up to it:

  Claude Code    claude mcp add --transport http mooring ${url}${flag}
  VS Code        mcp.json        { "servers": { "mooring": { "type": "http", "url": "${url}"${header} } } }
  Cursor         mcp.json        { "mcpServers": { "mooring": { "url": "${url}"${header} } } }
  Gemini CLI     settings.json   { "mcpServers": { "mooring": { "httpUrl": "${url}"${header} } } }
  Codex          config.toml     [mcp_servers.mooring]
                                 url = "${url}"${codex}
  Try it here    npx mooring tools ${url}${bearer}

  Or let it be done: npx mooring install <client> --url ${url}${flag}
  Ctrl-C stops.

`;
}
