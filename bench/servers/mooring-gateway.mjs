// Our gateway in front of one server of ours: BENCH_FRONT and BENCH_BACK say over what, stdio or http, and BENCH_REVISION which
// revision they use.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createGateway, gatewayConfig } from '../../dist/gateway.js';
import { serveHttp, serveStdio } from '../../dist/index.js';
import { listening } from './control.mjs';

const { BENCH_REVISION: revision = 'auto' } = process.env;
const config = await gatewayConfig({
  mcpServers: { upstream: { ...(await upstream()), mooring: { start: 'eager', revision } } },
});
const gateway = createGateway(config, { logger: false });
// Lists that become known later would be announced among the answers.
while (gateway.status()[0]?.state !== 'ready') await new Promise((resolve) => setTimeout(resolve, 20));
// One server by itself, with its own names.
const server = /** @type {import('../../dist/index.js').Server} */ (gateway.single('upstream'));
if (process.env.BENCH_FRONT === 'http') {
  listening((await serveHttp(server, { host: '127.0.0.1', port: 0, path: '/mcp' })).port);
} else await serveStdio(server);

async function upstream() {
  if (process.env.BENCH_BACK !== 'http') {
    return { command: process.execPath, args: [fileURLToPath(new URL('mooring-stdio.mjs', import.meta.url))] };
  }
  const child = fork(fileURLToPath(new URL('mooring-http.mjs', import.meta.url)), { stdio: 'ignore' });
  process.once('exit', () => child.kill());
  const [{ listening: port }] = await once(child, 'message');
  return { url: `http://127.0.0.1:${port}/mcp` };
}
