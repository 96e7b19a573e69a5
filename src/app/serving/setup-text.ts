// How to connect clients to a running server: commands and configuration to copy.

import { endpointUrl } from '../../transports/http/endpoint-url.ts';

/** The URL for clients: the public URL, or the listening address with a host that clients can connect to. */
export function addressForClients(listening: string, publicUrl: string | undefined, path: string): string {
  if (publicUrl !== undefined) return endpointUrl(publicUrl, path);
  // 0.0.0.0 and :: mean "all addresses"; clients cannot connect to them.
  return listening.replace(/^(https?):\/\/(?:0\.0\.0\.0|\[::\])(?=[:/])/, '$1://127.0.0.1');
}

/** How one client is connected. */
export interface ClientSnippet {
  readonly client: string;
  /** The file that `text` belongs into; undefined for a command. */
  readonly file?: string;
  readonly text: string;
}

/** The text to copy for each client. Tokens are placeholders, because the text may end up in logs. */
export function clientSnippets(url: string, authenticated: boolean): ClientSnippet[] {
  const header = authenticated ? `, "headers": { "Authorization": "Bearer <token>" }` : '';
  const codex = authenticated ? '\nbearer_token_env_var = "MOORING_TOKEN"' : '';
  const entry = (key: string): string => `"mooring": { "${key}": "${url}"${header} }`;
  return [
    { client: 'Claude Code', text: `claude mcp add --transport http mooring ${url}${authFlag(authenticated)}` },
    {
      client: 'VS Code',
      file: 'mcp.json',
      text: `{ "servers": { "mooring": { "type": "http", "url": "${url}"${header} } } }`,
    },
    { client: 'Cursor', file: 'mcp.json', text: `{ "mcpServers": { ${entry('url')} } }` },
    { client: 'Gemini CLI', file: 'settings.json', text: `{ "mcpServers": { ${entry('httpUrl')} } }` },
    { client: 'Codex', file: 'config.toml', text: `[mcp_servers.mooring]\nurl = "${url}"${codex}` },
    { client: 'Command line', text: `npx mooring tools ${url}${authenticated ? ' --token "<token>"' : ''}` },
  ];
}

const authFlag = (authenticated: boolean): string => (authenticated ? ' --header "Authorization: Bearer <token>"' : '');

/** The lines printed after "listening on". */
export function setupText(url: string, authenticated: boolean): string {
  const indent = `\n${' '.repeat(33)}`;
  const lines = clientSnippets(url, authenticated).map(
    ({ client, file, text }) => `  ${client.padEnd(15)}${file?.padEnd(16) ?? ''}${text.replaceAll('\n', indent)}`,
  );
  return `
  Connect a client:

${lines.join('\n')}

  Or configure a client automatically: npx mooring install <client> --url ${url}${authFlag(authenticated)}
  Press Ctrl-C to stop the server.

`;
}
