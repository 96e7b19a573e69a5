// A client with a `fetch` of its own: what fetch throws is explained as failures of Node are.

import { afterEach, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, type HttpServer, serveHttp } from '../../src/index.ts';

const open: HttpServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

test.each(['handshake', '2026-07-28'])(
  '%s: closing a client that waits rejects only to its caller',
  async (revision) => {
    const server = createServer({ name: 'slow', version: '1.0.0', logger: false });
    let begin: () => void = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    server.tool('endless', {
      run: () => {
        begin();
        return new Promise<never>(() => {});
      },
    });
    const served = await serveHttp(server, { port: 0 });
    open.push(served);
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      const ownFetch: typeof fetch = (input, init) => fetch(input, init);
      const client = await connect(served.url, { revision, fetch: ownFetch, eraCache: false });
      const call = client.callTool('endless').catch((error: unknown) => error);
      await begun;
      await client.close();
      expect(await call).toMatchObject({ code: 'closed' });
      for (let n = 0; n < 5; n++) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  },
);
