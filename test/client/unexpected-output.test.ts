// A server that writes its log to stdout works, and is reported once.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { useHome } from '../support/program.ts';

const fixture = join(import.meta.dirname, '../doctor/fixtures/server.mjs');
const noisy = [process.execPath, fixture, 'stdout'];
const home = useHome();

test('the handler is notified once, and the connection works', async () => {
  const heard: string[] = [];
  const client = await connect(noisy, { onUnexpectedOutput: (what) => heard.push(what) });
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo']);
  await client.close();
  expect(heard).toEqual(['"Starting the weather server…"']);
});

test('without a handler the logger warns', async () => {
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (_message: string, fields?: object) => void warned.push(fields) };
  const client = await connect(noisy, { logger });
  await client.close();
  expect(warned).toEqual([{ server: expect.any(String), what: '"Starting the weather server…"' }]);
});

test('without a handler and a logger there is a process warning', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listen);
  const client = await connect(noisy);
  await client.listTools();
  await client.close();
  process.off('warning', listen);
  expect(warnings.filter(({ name }) => name === 'McpServerWarning')).toHaveLength(1);
});

test('the command line reports it once, on stderr', async () => {
  const { code, stdout, stderr } = await home.run(['tools', noisy.join(' '), '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toHaveLength(1);
  expect(stderr.match(/warning: /g)).toHaveLength(1);
  expect(stderr).toContain('Starting the weather server…');
});
