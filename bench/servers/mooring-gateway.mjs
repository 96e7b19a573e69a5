// Our gateway in front of one server: BENCH_FRONT and BENCH_BACK say over what, stdio or http, and BENCH_REVISION which
// revision they use.
import { createGateway, gatewayConfig } from '../../dist/gateway.js';
import { serveHttp, serveStdio } from '../../dist/index.js';
import { fastServer } from '../clients/target.mjs';
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

/** The server that clients are measured against, so that a direct call has the same one. */
async function upstream() {
  const { argv, url } = await fastServer(process.env.BENCH_BACK === 'http' ? 'http' : 'stdio');
  return url === undefined ? { command: argv?.[0], args: argv?.slice(1) } : { url };
}
