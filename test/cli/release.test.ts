// Published beside the package: the bundle for desktop clients and the registry entry.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { profiles } from '../../src/app/profiles/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const work = temporaryFolder();

let archive: Buffer;
let files: Map<string, Buffer>;

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/mcpb.mjs'), '--outdir', work]);
  archive = readFileSync(join(work, `mooring-${version}.mcpb`));
  files = unzip(archive);
});

/** Reads a zip archive through its central directory. */
function unzip(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf('PK\x05\x06');
  const found = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let i = 0; i < zip.readUInt16LE(end + 10); i++) {
    expect(zip.toString('latin1', at, at + 4)).toBe('PK\x01\x02');
    const [packed, size, nameLength] = [
      zip.readUInt32LE(at + 20),
      zip.readUInt32LE(at + 24),
      zip.readUInt16LE(at + 28),
    ];
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = inflateRawSync(zip.subarray(start, start + packed));
    expect(data.length).toBe(size);
    found.set(zip.toString('utf8', at + 46, at + 46 + nameLength), data);
    at += 46 + nameLength;
  }
  return found;
}

test('the same sources give the same bundle', () => {
  const again = join(work, 'again');
  execFileSync(process.execPath, [join(root, 'scripts/mcpb.mjs'), '--outdir', again]);
  expect(readFileSync(join(again, `mooring-${version}.mcpb`)).equals(archive)).toBe(true);
});

test('its manifest has the required fields', () => {
  const manifest = JSON.parse(String(files.get('manifest.json')));
  expect(manifest).toMatchObject({
    manifest_version: '0.3',
    name: 'mooring',
    version,
    description: expect.any(String),
    author: { name: expect.any(String) },
    server: { type: 'node', entry_point: 'server/cli.js', mcp_config: { command: 'node' } },
  });
  expect(files.has(manifest.server.entry_point)).toBe(true);
});

test('it lists the licences of the bundled packages', () => {
  const text = String(files.get('third-party-licenses.txt'));
  for (const name of ['ajv', 'entities', 'jose', 'ws', 'yaml']) expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
});

test('it runs as a client starts it, with and without folders, and needs nothing else', () => {
  const folder = join(work, 'installed');
  for (const [name, data] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), data);
  }
  const { args, env } = JSON.parse(String(files.get('manifest.json'))).server.mcp_config;
  for (const folders of [[], [work], [work, root]]) {
    const words = (args as string[]).flatMap((word) =>
      word === `\${user_config.folders}` ? folders : [word.replace(`\${__dirname}`, folder)],
    );
    const { stdout, status } = spawnSync(process.execPath, words, {
      input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
      cwd: work,
      env: { HOME: work, PATH: process.env['PATH'], ...env, MCP_LOG_LEVEL: 'info' },
      encoding: 'utf8',
    });
    expect(stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    expect(status).toBe(0);
  }
});

test('the registry entry matches this version and names every profile', () => {
  const server = JSON.parse(readFileSync(join(root, 'server.json'), 'utf8'));
  expect(server.$schema).toMatch(
    /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/\d{4}-\d{2}-\d{2}\/server\.schema\.json$/,
  );
  expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(server.description.length).toBeLessThanOrEqual(100);
  expect(server.version).toBe(version);
  const [entry] = server.packages;
  expect(entry).toMatchObject({ registryType: 'npm', identifier: 'mooring', version, transport: { type: 'stdio' } });
  expect([...entry.packageArguments[1].choices].sort()).toEqual(Object.keys(profiles).sort());
});

test('create-mooring has this version and creates projects with it', () => {
  const create = JSON.parse(readFileSync(join(root, 'packages/create-mooring/package.json'), 'utf8'));
  expect(create).toMatchObject({ name: 'create-mooring', version, dependencies: { mooring: version } });
});

test('create-mooring without a name shows its own usage', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'packages/create-mooring/create-mooring.js')], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 2, stderr: 'Usage: npm create mooring <name> [-- --js]\n' });
});
