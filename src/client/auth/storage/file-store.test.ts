import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts';
import { createFileStore, defaultCredentialFile } from './file-store.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, 'credentials.json');
});

test('only the owner can access folder and file, whatever the umask', async () => {
  const inner = join(folder, 'a', 'credentials.json');
  const umask = process.umask(0);
  try {
    await createFileStore(inner).set('k', 1);
  } finally {
    process.umask(umask);
  }
  expect((await stat(inner)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700);
});

test('what one store wrote another reads, and no temporary file stays', async () => {
  await createFileStore(file).set('k', { a: 1 });
  expect(await createFileStore(file).get('k')).toEqual({ a: 1 });
  expect(await readdir(folder)).toEqual(['credentials.json']);
});

test('a file that others can read is rejected, and stays as it is', async () => {
  await createFileStore(file).set('k', 1);
  for (const mode of [0o644, 0o640, 0o604, 0o620]) {
    await chmod(file, mode);
    const before = await readFile(file, 'utf8');
    await expect(createFileStore(file).get('k')).rejects.toMatchObject({ code: 'store-unsafe', message: /chmod 600/ });
    await expect(createFileStore(file).set('k', 2)).rejects.toMatchObject({ code: 'store-unsafe' });
    expect(await readFile(file, 'utf8')).toBe(before);
  }
});

test('a folder that others can write to is rejected', async () => {
  const open = join(folder, 'open');
  await mkdir(open);
  await chmod(open, 0o777);
  await expect(createFileStore(join(open, 'c.json')).get('k')).rejects.toMatchObject({ code: 'store-unsafe' });
});

test('a symbolic link in place of the file is rejected', async () => {
  await writeFile(join(folder, 'target'), '{}', { mode: 0o600 });
  await symlink(join(folder, 'target'), file);
  await expect(createFileStore(file).get('k')).rejects.toMatchObject({
    code: 'store-unsafe',
    message: /symbolic link/,
  });
});

test('a folder in place of the file is rejected', async () => {
  await mkdir(file);
  await expect(createFileStore(file).get('k')).rejects.toMatchObject({ code: 'store-unsafe' });
});

test('a damaged file is kept aside with a clear error, and the next run starts empty', async () => {
  for (const damage of ['{"version":1,"records"', '', '[]', 'null', '{"version":2,"records":{}}', '{"version":1}']) {
    await writeFile(file, damage, { mode: 0o600 });
    const store = createFileStore(file);
    const error = await store.get('k').catch((thrown: Error) => thrown);
    expect(error, damage).toMatchObject({ code: 'store-corrupt' });
    const kept = (await readdir(folder)).find((name) => name.includes('damaged'))!;
    expect((error as Error).message).toContain(kept);
    expect(await readFile(join(folder, kept), 'utf8')).toBe(damage);
    expect(await store.get('k')).toBeUndefined();
    await rm(join(folder, kept));
  }
});

test('two stores on one file exclude each other like two processes do', async () => {
  const [one, two] = [createFileStore(file), createFileStore(file)];
  let inside = 0;
  const task = async () => {
    expect(++inside).toBe(1);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    inside--;
  };
  await Promise.all([one, two, one, two].map((store) => store.lock('k', task)));
  await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : two).set(`k${n}`, n)));
  expect(await Promise.all(Array.from({ length: 10 }, (_, n) => one.get(`k${n}`)))).toEqual([...Array(10).keys()]);
});

test('the default place follows the platform', () => {
  expect(defaultCredentialFile({ XDG_STATE_HOME: '/state' }, 'linux')).toBe('/state/mooring/credentials.json');
  expect(defaultCredentialFile({}, 'linux')).toMatch(/\.local\/state\/mooring\/credentials\.json$/);
  expect(defaultCredentialFile({}, 'darwin')).toMatch(/Application Support\/mooring\/credentials\.json$/);
  expect(defaultCredentialFile({ LOCALAPPDATA: '/app' }, 'win32')).toBe('/app/mooring/credentials.json');
});

const newKey = (): string => randomBytes(32).toString('base64');

test('with a key the file is encrypted, names included, and only that key opens it', async () => {
  const key = newKey();
  await createFileStore(file, { key }).set('https://a.example', { token: 'not-to-be-seen' });
  const text = await readFile(file, 'utf8');
  expect(text).not.toMatch(/a\.example|not-to-be-seen/);
  expect(await createFileStore(file, { key }).get('https://a.example')).toEqual({ token: 'not-to-be-seen' });
  for (const options of [{}, { key: newKey() }]) {
    const store = createFileStore(file, options);
    const refused = { code: 'store-encrypted', message: /Set MOORING_CREDENTIALS_KEY to the key/ };
    await expect(store.get('https://a.example')).rejects.toMatchObject(refused);
    await expect(store.set('other', 1)).rejects.toMatchObject(refused);
  }
  expect(await readFile(file, 'utf8')).toBe(text);
  expect(await readdir(folder)).toEqual(['credentials.json']);
});

test('a plain file is encrypted when something is stored', async () => {
  const key = newKey();
  await createFileStore(file).set('a', 'first');
  const store = createFileStore(file, { key });
  expect(await store.get('a')).toBe('first');
  await store.set('b', 'second');
  expect(await readFile(file, 'utf8')).not.toMatch(/first|second/);
  expect([await store.get('a'), await store.get('b')]).toEqual(['first', 'second']);
});

test('a file that was changed after it was encrypted is not used', async () => {
  const key = newKey();
  await createFileStore(file, { key }).set('a', 'first');
  const { encrypted, ...rest } = JSON.parse(await readFile(file, 'utf8')) as { encrypted: string };
  const bytes = Buffer.from(encrypted, 'base64url');
  for (const at of [0, 14, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 1;
    await writeFile(file, JSON.stringify({ ...rest, encrypted: changed.toString('base64url') }), { mode: 0o600 });
    await expect(createFileStore(file, { key }).get('a')).rejects.toMatchObject({ code: 'store-encrypted' });
  }
  await writeFile(file, JSON.stringify({ ...rest, encrypted: 'short' }), { mode: 0o600 });
  await expect(createFileStore(file, { key }).get('a')).rejects.toMatchObject({ code: 'store-encrypted' });
});

test('a key that is not 32 random bytes is rejected', () => {
  for (const key of ['secret', 'A'.repeat(44), `${newKey()}!`, randomBytes(16).toString('base64')]) {
    expect(() => createFileStore(file, { key }), key).toThrow(/MOORING_CREDENTIALS_KEY must be 32 random bytes/);
  }
});
