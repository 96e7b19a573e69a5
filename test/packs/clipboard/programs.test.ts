// How the clipboard backends start the programs of their systems, with programs of the same names in their place.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ClipboardBackend } from '../../../src/packs/clipboard/backend.ts';
import { macosBackend } from '../../../src/packs/clipboard/macos.ts';
import { windowsBackend } from '../../../src/packs/clipboard/windows.ts';
import { xclipBackend } from '../../../src/packs/clipboard/x11.ts';
import { isRunning } from '../../support/is-running.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
// The programs created here are CommonJS scripts, whatever a package.json above the folder says.
writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }');

/** A program of a given name that records how it was called and stores its clipboard in a file. */
function fake(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!${process.execPath}\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const { signal } = new AbortController();
const sample = 'Hello 世界 🌍\r\nzwei\rdrei\n "$(id)" `id` %PATH% & del *';

async function roundTrip(backend: ClipboardBackend): Promise<void> {
  for (const text of [sample, '', 'x']) {
    await backend.write(text, signal);
    expect(await backend.read(signal, 1000)).toBe(text);
  }
}

test('S0-53: Windows and WSL get the text as base64 through the pipe; the command line never changes', async () => {
  const log = join(folder, 'powershell.log');
  const path = fake(
    'powershell.exe',
    `const fs = require('node:fs');
     const script = Buffer.from(process.argv.at(-1), 'base64').toString('utf16le');
     fs.appendFileSync('${log}', JSON.stringify(process.argv.slice(2)) + '\\n');
     if (script.includes('GetText')) process.stdout.write(fs.readFileSync('${log}.held', 'latin1') + '\\r\\n');
     else fs.writeFileSync('${log}.held', fs.readFileSync(0, 'latin1'));`,
  );
  const backend = windowsBackend(path, 'wsl');
  await roundTrip(backend);
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  expect(new Set(lines).size).toBe(2);
  const script = Buffer.from(JSON.parse(lines[0] as string).at(-1), 'base64').toString('utf16le');
  expect(script).toContain('[Windows.Forms.Clipboard]::SetDataObject');
  await expect(backend.write('a\0b', signal)).rejects.toThrow('NUL');
});

test('S0-53: macOS gets the text through the pipe, as UTF-8 whatever the locale', async () => {
  const held = join(folder, 'pasteboard');
  const copy = fake('pbcopy', `require('node:fs').writeFileSync('${held}', require('node:fs').readFileSync(0))`);
  const paste = fake(
    'pbpaste',
    `if (process.env.LC_CTYPE !== 'UTF-8') process.exit(3); process.stdout.write(require('node:fs').readFileSync('${held}'))`,
  );
  await roundTrip(macosBackend(copy, paste));
});

test('a program that fails, is missing or prints too much is reported; it gets only the variables it needs', async () => {
  process.env['MOORING_TEST_SECRET'] = 'x';
  const failing = fake(
    'failing',
    `process.stderr.write('no pasteboard'); process.exit(process.env.MOORING_TEST_SECRET === undefined ? 5 : 0)`,
  );
  await expect(macosBackend(failing, failing).read(signal, 10)).rejects.toThrow('pbpaste ended with 5 (no pasteboard)');
  delete process.env['MOORING_TEST_SECRET'];
  await expect(macosBackend(join(folder, 'missing')).write('x', signal)).rejects.toThrow('cannot be run');
  const chatty = fake('chatty', `process.stdout.write('x'.repeat(1000))`);
  await expect(macosBackend(chatty, chatty).read(signal, 999)).rejects.toThrow('more than 999 bytes');
});

test('a text that another program offers after ours is not read beyond the length of ours', async () => {
  const reads = join(folder, 'reads');
  const path = fake(
    'xclip',
    `const fs = require('node:fs');
     if (process.argv.includes('-in')) fs.readFileSync(0);
     else if (fs.existsSync('${reads}')) process.stdout.write('ours');
     else {
       fs.writeFileSync('${reads}', '');
       process.stdout.write('x'.repeat(10_000_000));
       setInterval(() => {}, 1000);
     }`,
  );
  await xclipBackend(path).write('ours', signal);
});

test('a program that hangs is stopped when the call ends', async () => {
  const pid = join(folder, 'pid');
  const hanging = fake(
    'hanging',
    `require('node:fs').writeFileSync('${pid}', String(process.pid)); setInterval(() => {}, 1000)`,
  );
  const controller = new AbortController();
  const reading = macosBackend(hanging, hanging).read(controller.signal, 10);
  const started = async (): Promise<number> => {
    for (;;) {
      try {
        const number = Number(readFileSync(pid, 'utf8'));
        if (number > 0) return number;
      } catch {
        // Not started yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const child = await started();
  controller.abort(new Error('cancelled'));
  await expect(reading).rejects.toThrow('cancelled');
  await expect.poll(() => isRunning(child)).toBe(false);
});
