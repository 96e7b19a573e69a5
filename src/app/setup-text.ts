// What a person pastes into a client to use a server that listens.

/** The lines printed under "listening on". */
export function setupText(url: string, authenticated: boolean): string {
  const header = authenticated ? `, "headers": { "Authorization": "Bearer <token>" }` : '';
  const flag = authenticated ? ' --header "Authorization: Bearer <token>"' : '';
  return `
  Tie a client up to it:

  Claude Code    claude mcp add --transport http mooring ${url}${flag}
  VS Code        mcp.json        { "servers": { "mooring": { "type": "http", "url": "${url}"${header} } } }
  Cursor         mcp.json        { "mcpServers": { "mooring": { "url": "${url}"${header} } } }
  Gemini CLI     settings.json   { "mcpServers": { "mooring": { "httpUrl": "${url}"${header} } } }
  Codex          config.toml     [mcp_servers.mooring]
                                 url = "${url}"
  Try it here    npx mooring tools ${url}

  Or let it be done: npx mooring install <client> --url ${url}
  Ctrl-C stops.

`;
}
