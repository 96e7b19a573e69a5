// Gateways of others, each as its command line starts it, in this process: HTTP in front of a server on stdio.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fastServer } from '../clients/target.mjs';
import { packageFolder } from '../contestants.mjs';
import { listening } from './control.mjs';
import { accepting, freePort } from './port.mjs';

const { argv: upstream = [] } = await fastServer('stdio');
const name = process.env.BENCH_GATEWAY ?? '';
const folder = /** @type {string} */ (packageFolder(name));
const { bin } = createRequire(import.meta.url)(join(folder, 'package.json'));
const port = await freePort();

/** @type {Record<string, string[]>} */
const args = {
  'mcp-proxy': ['--host', '127.0.0.1', '--port', `${port}`, '--server', 'stream', '--', ...upstream],
  supergateway: [
    ...['--stdio', upstream.join(' '), '--outputTransport', 'streamableHttp', '--stateful'],
    ...['--port', `${port}`, '--logLevel', 'none'],
  ],
};
process.argv = [process.execPath, name, ...args[name]];
await import(pathToFileURL(join(folder, bin[name])).href);
await accepting(port);
listening(port);
