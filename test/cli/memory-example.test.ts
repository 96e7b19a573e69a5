// examples/memory.mjs has the tools of the official memory server, in half of its lines: the same calls on both give the
// same results and the same file.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';

const root = resolve(import.meta.dirname, '../..');
const officialPackage = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json');
const programs = {
  official: join(dirname(officialPackage), 'dist/index.js'),
  ours: join(root, 'examples/memory.mjs'),
};
const folder = mkdtempSync(join(tmpdir(), 'memory-example-'));
const fileOf = (name: keyof typeof programs): string => join(folder, `${name}.jsonl`);
let official: Client;
let ours: Client;

beforeAll(async () => {
  const open = (name: keyof typeof programs): Promise<Client> =>
    connect({ command: process.execPath, args: [programs[name]], env: { MEMORY_FILE_PATH: fileOf(name) } });
  [official, ours] = await Promise.all([open('official'), open('ours')]);
});

afterAll(async () => {
  await Promise.all([official?.close(), ours?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** A result without what the transport adds. */
async function call(client: Client, name: string, args: object): Promise<object> {
  const { content, structuredContent, isError = false } = await client.callTool(name, args as never);
  return { content, structuredContent, isError };
}

const port = { name: 'Hamburg', entityType: 'port', observations: ['on the Elbe'] };
const ship = { name: 'Emma', entityType: 'ship', observations: ['blue', 'fast'] };
const lies = { from: 'Emma', to: 'Hamburg', relationType: 'lies_in' };
const sails = { from: 'Emma', to: 'Oslo', relationType: 'sails_to' };

const calls: readonly (readonly [tool: string, args: object])[] = [
  ['read_graph', {}],
  ['create_entities', { entities: [port, ship] }],
  ['create_entities', { entities: [ship, { name: 'Oslo', entityType: 'port', observations: [] }] }],
  ['create_relations', { relations: [lies, sails] }],
  ['create_relations', { relations: [lies] }],
  ['add_observations', { observations: [{ entityName: 'Emma', contents: ['fast', 'old'] }] }],
  ['add_observations', { observations: [{ entityName: 'Unknown', contents: ['x'] }] }],
  ['search_nodes', { query: 'ELBE' }],
  ['search_nodes', { query: 'ship' }],
  ['search_nodes', { query: 'nothing like it' }],
  ['open_nodes', { names: ['Hamburg', 'unknown'] }],
  ['delete_observations', { deletions: [{ entityName: 'Emma', observations: ['blue'] }] }],
  ['delete_observations', { deletions: [{ entityName: 'unknown', observations: ['blue'] }] }],
  ['delete_relations', { relations: [sails] }],
  ['read_graph', {}],
  ['delete_entities', { entityNames: ['Hamburg'] }],
  ['read_graph', {}],
];

test('the tools have the same names, descriptions and schemas', async () => {
  const describe = async (client: Client): Promise<unknown> =>
    (await client.listTools()).map(({ name, title, description, annotations, inputSchema, outputSchema }) => ({
      name,
      title,
      description,
      annotations,
      input: shape(inputSchema),
      output: shape(outputSchema),
    }));
  expect(await describe(ours)).toEqual(await describe(official));
});

test('every tool gives the same results and writes the same file', async () => {
  for (const [tool, args] of calls) {
    const label = `${tool} ${JSON.stringify(args)}`;
    expect(await call(ours, tool, args), label).toEqual(await call(official, tool, args));
  }
  const used = new Set(calls.map(([tool]) => tool));
  expect((await official.listTools()).map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  expect(readFileSync(fileOf('ours'), 'utf8')).toBe(readFileSync(fileOf('official'), 'utf8'));
});

test('the graph is a resource with the same contents', async () => {
  expect(await ours.listResources()).toEqual(await official.listResources());
  const read = async (client: Client): Promise<unknown> =>
    (await client.readResource('memory://knowledge-graph')).contents;
  expect(await read(ours)).toEqual(await read(official));
});

test('invalid arguments fail on both', async () => {
  for (const client of [official, ours]) {
    expect(await call(client, 'search_nodes', { query: 1 })).toMatchObject({ isError: true });
  }
});

test('the example has at most half the lines', () => {
  const lines = (path: string): number => readFileSync(path, 'utf8').trimEnd().split('\n').length;
  expect(lines(programs.ours)).toBeLessThanOrEqual(lines(programs.official) / 2);
});

/** A schema without the parts that only say how it was written. */
function shape(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shape);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key]) => key !== '$schema' && key !== 'additionalProperties');
  return Object.fromEntries(kept.map(([key, value]) => [key, shape(value)]));
}
