// Starts the proxy of FastMCP in a process of its own, which ends with this one.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fastServer } from '../clients/target.mjs';
import { pythonFolder } from '../contestants.mjs';
import { listening } from './control.mjs';
import { accepting, freePort } from './port.mjs';

const { argv: upstream = [] } = await fastServer('stdio');
const port = await freePort();
const script = fileURLToPath(new URL('fastmcp-proxy.py', import.meta.url));
const child = spawn('python3', [script, `${port}`, ...upstream], {
  env: { ...process.env, PYTHONPATH: pythonFolder, FASTMCP_LOG_LEVEL: 'ERROR' },
  stdio: ['pipe', 'ignore', 'inherit'],
});
child.once('exit', (code) => process.exit(code ?? 1));
process.once('disconnect', () => process.exit());
await accepting(port);
listening(port);
