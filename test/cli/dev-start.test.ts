// mooring dev with a file that does not begin to serve: the person at the terminal and the clients are told.

import { afterEach, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';
import { Printed, save, textOf, tools, writeProject } from '../support/dev-project.ts';
import { isFullRun } from '../support/full.ts';
import { cli, useHome } from '../support/program.ts';

const home = useHome();
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** The second one serves on stdio before it begins to loop. */
const endless = [
  `await new Promise((resolve) => setTimeout(resolve, 2 ** 30));`,
  `import { createServer, serveStdio } from 'mooring';
   await serveStdio(createServer({ name: 'dev', version: '1.0.0' }));
   for (;;);`,
];

const report = /main\.ts was started 5 s ago and does not serve yet\. .* a loop or an await at the top level/;

test.each([
  [['--http', '--port', '0'], endless[0]],
  [[], endless[1]],
])(
  'with %j, a file that does not begin to serve is reported',
  async (args, source) => {
    writeProject(home);
    save(home, 'src/main.ts', source as string);
    const printed = new Printed();
    const program = home.start(['dev', 'src/main.ts', ...args]);
    program.stderr?.setEncoding('utf8').on('data', (text: string) => printed.add(text));
    await printed.until(report);
  },
  60_000,
);

test.each([
  ['sends messages to it', `process.send?.('ready');`],
  ['closes its channel', 'process.disconnect();'],
])('a file that has another parent process in mind, and %s, is served', async (_what, source) => {
  writeProject(home);
  const serve = `import { serveStdio } from 'mooring';\nimport { server } from './server.ts';\nawait serveStdio(server);`;
  save(home, 'src/main.ts', `${source}\n${serve}`);
  const target = { command: process.execPath, args: [cli, 'dev', 'src/main.ts'], cwd: home.folder, env: home.env };
  const client = await connect(target, { eraCache: false });
  clients.push(client);
  expect(await textOf(client, 'greet')).toBe('first');
});

test.skipIf(!isFullRun).each([
  ['stdio', false],
  ['HTTP', true],
])(
  'over %s, calls of a file that does not begin to serve fail with the reason, until it is fixed',
  async (_name, isHttp) => {
    writeProject(home);
    const printed = new Printed();
    const args = ['dev', 'src/server.ts'];
    let target: string | { command: string; args: string[] } = { command: process.execPath, args: [cli, ...args] };
    if (isHttp) {
      const program = home.start([...args, '--http', '--port', '0']);
      program.stderr?.setEncoding('utf8').on('data', (text: string) => printed.add(text));
      target = (await printed.until(/listening on \S+/)).replace('listening on ', '');
    }
    const client = await connect(typeof target === 'string' ? target : { ...target, cwd: home.folder, env: home.env }, {
      eraCache: false,
      ...(isHttp ? {} : { onStderr: (text: string) => printed.add(text) }),
    });
    clients.push(client);
    expect(await textOf(client, 'greet')).toBe('first');
    save(home, 'src/tools.ts', `${tools('second')}\nfor (;;);`);
    await printed.until(/restarting/);
    await expect(client.callTool('greet')).rejects.toThrow('server.ts was started 20 s ago and does not serve yet');
    save(home, 'src/tools.ts', tools('fixed'));
    await printed.until(/restarting/);
    expect(await textOf(client, 'greet')).toBe('fixed');
  },
  120_000,
);
