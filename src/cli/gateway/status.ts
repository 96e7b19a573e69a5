// mooring gateway status: the servers of the gateways that run.

import { findGateway, runningGateways } from '../../app/gateway/running.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { table } from '../ui/table.ts';
import { type Status, statusNotes } from './status-notes.ts';

const help = `Usage: mooring gateway status [--pid N] [--json]

Shows the servers of all your running gateways: their state, since when, restarts, calls in progress, calls that wait for a
connection, and the median (p50) and 99th percentile (p99) of the duration of recent calls. Notes say what is wrong with a server.

Options:
  --pid N      only the gateway with this process id
  --json       print JSON
  -h, --help   show this help
`;

const options = {
  pid: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'gateway status', help, options, maxWords: 0 }, async ({ values, out }) => {
  const named = values.pid === undefined ? undefined : await findGateway(values.pid);
  const silent: number[] = [];
  const gateways = named === undefined ? await runningGateways((pid) => silent.push(pid)) : [named];
  for (const pid of silent) out.info(`The gateway ${pid} does not respond\n`);
  const all = await Promise.all(gateways.map(async ({ info, status }) => ({ info, servers: await status() })));
  if (values.json === true) {
    const [only] = all;
    // One gateway is the usual case: its servers are at the top.
    out.json({ servers: only?.servers ?? [], gateways: all.map(({ info, servers }) => ({ ...info, servers })) });
    return all.length === 0 ? 1 : 0;
  }
  if (all.length === 0) {
    if (silent.length === 0) out.info('No gateway is running. "mooring gateway --config FILE" starts one.\n');
    return 1;
  }
  for (const { info, servers } of all) {
    const { pid, transport, url, clients, files, startedAt, problem } = info;
    const source = files.length === 0 ? '' : ` · ${lineForTerminal(files.join(', '), 300)}`;
    out.write(
      `gateway ${pid} · ${url ?? transport}${clients === undefined ? '' : `, ${clients} connected`} · since ${startedAt}${source}\n`,
    );
    if (problem !== undefined) out.write(`${out.style.warn('not reloaded:')} ${lineForTerminal(problem, 500)}\n`);
    print(servers, out);
  }
  return 0;
});

function print(servers: readonly Status[], out: Output): void {
  const { style, width } = out;
  const columns = [
    { title: 'server', text: ({ slug }: Status) => slug, paint: (text: string) => style.name(text) },
    { title: 'state', text: ({ state }: Status) => state },
    { title: 'since', text: ({ since }: Status) => since },
    { title: 'revision', text: ({ revision }: Status) => revision ?? '' },
    { title: 'restarts', text: ({ restarts }: Status) => String(restarts) },
    { title: 'calls', text: ({ inFlight }: Status) => String(inFlight) },
    { title: 'queued', text: ({ queued }: Status) => String(queued) },
    { title: 'p50', text: ({ p50Ms }: Status) => (p50Ms === undefined ? '' : `${p50Ms} ms`) },
    { title: 'p99', text: ({ p99Ms }: Status) => (p99Ms === undefined ? '' : `${p99Ms} ms`) },
    { title: 'pid', text: ({ pid }: Status) => (pid === undefined ? '' : String(pid)) },
    { title: 'reason', text: ({ reason }: Status) => lineForTerminal(reason ?? '', 300) },
  ];
  out.write(table(servers, columns, { style, width }));
  for (const note of servers.flatMap(statusNotes)) out.write(`${style.warn('note:')} ${note}\n`);
}
