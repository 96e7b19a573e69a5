import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'file-modes-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllGlobals());

/** A file as Windows reports every one: all users may write it. */
function fileForAll(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  chmodSync(path, 0o666);
  return path;
}

const tokens = fileForAll('tokens.json', { tokens: [{ id: 'me', hash: `sha256:${'0'.repeat(64)}` }] });
const policy = fileForAll('policy.json', { version: 1, rules: [] });

/** The modules that read these files, as they are loaded on that platform. */
async function loadedOn(platform: NodeJS.Platform) {
  vi.stubGlobal('process', Object.create(process, { platform: { value: platform } }));
  vi.resetModules();
  const [{ readTokenFile }, { loadPolicy }] = await Promise.all([
    import('../../src/security/auth/index.ts'),
    import('../../src/security/policy/index.ts'),
  ]);
  return { readTokenFile, loadPolicy };
}

test.each(['linux', 'darwin'] as const)('a file that all users can write is rejected on %s', async (platform) => {
  const { readTokenFile, loadPolicy } = await loadedOn(platform);
  expect(() => readTokenFile(tokens)).toThrow('can be written by other users');
  await expect(loadPolicy(policy)).rejects.toThrow('can be written by other users');
});

test('on Windows, where modes say nothing, the same files are read', async () => {
  const { readTokenFile, loadPolicy } = await loadedOn('win32');
  expect(readTokenFile(tokens)).toMatchObject([{ id: 'me' }]);
  await expect(loadPolicy(policy)).resolves.toBeDefined();
});
