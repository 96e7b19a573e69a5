// How each client connects, calls and closes. A new client is one entry here and one row in contestants.mjs.

const info = { name: 'bench', version: '1.0.0' };
const tool = 'calculate';
const args = { operation: 'add', a: 1, b: 2 };

/**
 * @typedef {object} Connected
 * @property {string} revision
 * @property {() => Promise<unknown>} list
 * @property {() => Promise<any>} call
 * @property {() => Promise<void>} close
 */

/**
 * @typedef {object} Target  one of both
 * @property {string[]} [argv]  over stdio
 * @property {string} [url]     over HTTP
 */

/** @typedef {import('../contestants.mjs').Era} Era */

/** @type {Record<string, () => Promise<(target: Target, era: Era) => Promise<Connected>>>} */
const clients = {
  async mooring() {
    const { connect } = await import('../../dist/client.js');
    return async ({ argv, url }, era) => {
      const revision = era === 'stateless' ? '2026-07-28' : 'handshake';
      const client = await connect(argv ?? url, { client: info, revision });
      return {
        revision: client.revision,
        list: () => client.listTools(),
        call: () => client.callTool(tool, args),
        close: () => client.close(),
      };
    };
  },

  async 'sdk-old'() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return async ({ argv, url }) => {
      const client = new Client(info);
      const transport = argv
        ? new StdioClientTransport({ command: argv[0], args: argv.slice(1) })
        : new StreamableHTTPClientTransport(new URL(url ?? ''));
      await client.connect(transport);
      return {
        revision: '2025-11-25',
        list: () => client.listTools(),
        call: () => client.callTool({ name: tool, arguments: args }),
        close: () => client.close(),
      };
    };
  },

  async 'sdk-new'() {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    return async ({ argv, url }, era) => {
      const mode = era === 'stateless' ? { pin: '2026-07-28' } : 'legacy';
      const client = new Client(info, { versionNegotiation: { mode } });
      const transport = argv
        ? new StdioClientTransport({ command: argv[0], args: argv.slice(1) })
        : new StreamableHTTPClientTransport(new URL(url ?? ''));
      await client.connect(transport);
      return {
        revision: client.getNegotiatedProtocolVersion() ?? '',
        list: () => client.listTools(),
        call: () => client.callTool({ name: tool, arguments: args }),
        close: () => client.close(),
      };
    };
  },
};

/** Loads a client's package; the answer connects. @param {string} id  of the contestant */
export const connector = (id) => clients[id]();
