// Gateways of others, each as its command line starts it, in this process: HTTP in front of a server on stdio.
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fastServer } from '../clients/target.mjs';
import { packageFolder } from '../contestants.mjs';
import { listening } from './control.mjs';

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
await accepting();
listening(port);

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/** Resolves when the port accepts connections. */
async function accepting() {
  for (;;) {
    const isOpen = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
