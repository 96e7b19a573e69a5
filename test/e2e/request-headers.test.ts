// What handlers read of the HTTP request that brought a call.

import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, type Server, serveHttp } from '../../src/index.ts';

function createTenants(): Server {
  const server = createServer({ name: 'headers', version: '1.0.0', logger: false });
  server.tool('tenants', {
    run: async (_args, ctx) => {
      const before = ctx.header('x-tenant');
      await ctx.progress(1, 2);
      const after = ctx.header('x-tenant');
      await new Promise((resolve) => setImmediate(resolve));
      return [before, after, ctx.header('x-tenant')].join(' ');
    },
  });
  return server;
}

test.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
  'a handler of %s can read headers after its response has become a stream',
  async (revision) => {
    const http = await serveHttp(createTenants(), { port: 0 });
    const client = await connect(http.url, { revision, headers: { 'X-Tenant': 'acme' } });
    let progress = 0;
    const { content } = await client.callTool('tenants', {}, { onProgress: () => progress++ });
    expect([content, progress]).toEqual([[{ type: 'text', text: 'acme acme acme' }], 1]);
    await client.close();
    await http.close();
  },
);
