// A Redis server of the distribution, on a free port, without persistence.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

/** @param {string} folder  where it may write */
export async function startRedis(folder) {
  const port = await freePort();
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--dir', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.on('data', (text) => /Ready to accept/.test(String(text)) && resolve(0)));
  return { url: `redis://127.0.0.1:${port}`, stop: () => void child.kill('SIGKILL') };
}

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
      probe.close(() => resolve(port));
    });
  });
