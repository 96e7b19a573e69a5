// From spawn to the list of all tools, of a gateway that knows the lists of its servers from an earlier run.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep, stop } from '../lib/process.mjs';
import { startColumns } from '../lib/start-columns.mjs';
import { StdioClient } from '../lib/stdio-client.mjs';
import { request } from '../lib/wire.mjs';

const servers = 20;
const toolsPerServer = 10;
const prepareMs = 60_000;
const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** @type {import('../lib/suite.mjs').Suite} */
export const gatewayStart = {
  id: 'gateway-start',
  title: 'Start of a gateway',
  note: `Milliseconds from spawn to the answer to tools/list, and the CPU time spent until then. The gateway has ${servers} servers with
${toolsPerServer} tools each, whose lists it knows from an earlier run. A client that connects to a shared gateway finds it running.`,
  transport: 'gateway-start',
  rounds: 15,
  columns: startColumns('list'),

  async measure(contestant, era) {
    const env = await (prepared ??= prepare());
    const client = await StdioClient.open(contestant, era, { env });
    const opened = performance.now();
    const { result } = await client.ask(request(era, 1, 'tools/list', {}));
    const ms = client.startMs + performance.now() - opened;
    const figures = { ms, cpuMs: client.cpuMicros / 1000, rssMb: client.rssMb };
    await client.end();
    const listed = result.tools.length;
    if (['gateway', 'connect'].includes(contestant.id) && listed !== servers * toolsPerServer)
      throw new Error(`it listed ${listed} tools`);
    return { revision: client.revision, figures };
  },
};

/** @type {Promise<Record<string, string>> | undefined} */
let prepared;

/** Writes the configuration and has a gateway store the lists. All servers are one, at addresses that differ. */
async function prepare() {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const upstream = fork(fileURLToPath(new URL('../servers/mooring-http.mjs', import.meta.url)), {
    stdio: 'ignore',
    env: { ...process.env, BENCH_TOOLS: String(toolsPerServer) },
  });
  try {
    const [{ listening }] = await once(upstream, 'message');
    const names = Array.from({ length: servers }, (_, n) => `server-${n}`);
    const mcpServers = names.map((name) => [name, { url: `http://127.0.0.1:${listening[0]}/mcp?server=${name}` }]);
    const file = join(folder, 'servers.json');
    writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(mcpServers) }));
    const env = { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder, BENCH_CONFIG: file };
    // A client that reads every page, and announcements among the answers.
    const { connect } = await import('../../dist/client.js');
    const client = await connect([process.execPath, program, 'gateway', '--config', file], { env });
    const until = performance.now() + prepareMs;
    while ((await client.listTools({ cache: 'bypass' })).length < servers * toolsPerServer) {
      if (performance.now() > until) throw new Error('the lists of the servers were not complete in time');
      await sleep(100);
    }
    await client.close();
    // It starts the shared gateway, which ends before its folder is removed.
    await (await connect([process.execPath, program, 'connect', '--config', file], { env })).close();
    process.prependOnceListener('exit', () =>
      execFileSync(process.execPath, [program, 'gateway', 'stop'], { env, stdio: 'ignore' }),
    );
    return env;
  } finally {
    await stop(upstream);
  }
}
