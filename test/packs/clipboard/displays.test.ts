// The clipboard of a real display: X11 (Xvfb) through xclip and xsel, Wayland (sway) through wl-clipboard. Every set is
// read from the other side by another program, and the other way round.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Display, onlyFolder, otherSide, startWayland, startX11 } from '../../support/display.ts';
import { ensureProgram } from '../../support/programs.ts';
import { ServerProcess, useCommand } from '../../support/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

useCommand(afterAll);

const texts = {
  plain: 'Hello, World!',
  unicode: 'Hello 世界 🌍 emoji test ñ',
  lines: 'one\ntwo\r\nthree\rfour\n\n',
  spaces: ' \t leading and trailing \t ',
  quotes: `"; rm -rf ~ '$(reboot)' \`id\` %PATH% \\`,
  nul: 'before\u0000after',
  long: 'A🌍'.repeat(200_000),
};

interface Side {
  readonly read: (display: Display) => string;
  readonly write: (display: Display, text: string) => void;
}

const xclip: Side = {
  read: (display) => otherSide(display, 'xclip', ['-selection', 'clipboard', '-out']),
  write: (display, text) => void otherSide(display, 'xclip', ['-selection', 'clipboard', '-in'], text),
};
const xsel: Side = {
  read: (display) => otherSide(display, 'xsel', ['--clipboard', '--output']),
  write: (display, text) => void otherSide(display, 'xsel', ['--clipboard', '--input'], text),
};
const wayland: Side = {
  read: (display) => otherSide(display, 'wl-paste', ['--no-newline']),
  write: (display, text) => void otherSide(display, 'wl-copy', ['--type', 'text/plain'], text),
};

async function serve(display: Display, backend?: string): Promise<ServerProcess> {
  const path = backend === undefined ? {} : { PATH: onlyFolder(backend) };
  const server = new ServerProcess(['serve', 'clipboard'], { ...display.env, ...path });
  await server.initialize();
  return server;
}

function exchange(open: () => Display, other: Side, backend?: string): void {
  let shared: Promise<ServerProcess> | undefined;
  const serveOnce = (): Promise<ServerProcess> => (shared ??= serve(open(), backend));
  // Long texts travel in pieces, and xsel misses some on a busy machine: then another xclip looks.
  const reader = other === xsel ? xclip : other;
  // xsel 1.2 cannot hold NUL and dies after handing out a long text a few times; xclip is preferred where it is there.
  const kinds = Object.entries(texts).filter(([kind]) => backend !== 'xsel' || (kind !== 'nul' && kind !== 'long'));
  for (const [kind, text] of kinds) {
    test(`S0-18 S0-19 S0-20 S0-53: ${kind} text is seen by other programs as soon as it is acknowledged`, async () => {
      const server = await serveOnce();
      const answer = await server.call('set_clipboard', { text });
      expect(answer.result).toEqual({ content: [{ type: 'text', text: 'Text copied to clipboard' }] });
      // NUL ends what the other tool prints on some systems, never what we read ourselves.
      if (kind !== 'nul') expect((kind === 'long' ? reader : other).read(open()) === text).toBe(true);
      expect((await server.call('get_clipboard')).result.content[0].text === text).toBe(true);
    });
  }

  test('S0-53: what another program has copied is read', async () => {
    const server = await serveOnce();
    for (const text of [texts.unicode, texts.lines]) {
      other.write(open(), text);
      await expect.poll(async () => (await server.call('get_clipboard')).result.content[0].text).toBe(text);
    }
  });

  test('S0-16 S0-26: an empty text empties it', async () => {
    const server = await serveOnce();
    await server.call('set_clipboard', { text: 'something' });
    expect((await server.call('set_clipboard', { text: '' })).result.content[0].text).toBe('Text copied to clipboard');
    expect(other.read(open())).toBe('');
    expect((await server.call('get_clipboard')).result.content).toEqual([{ type: 'text', text: '' }]);
  });

  const longest = async (): Promise<void> => {
    const server = await serveOnce();
    const text = '界'.repeat(1_048_576);
    expect((await server.call('set_clipboard', { text })).result).toBeDefined();
    expect(reader.read(open()) === text).toBe(true);
  };
  if (backend !== 'xsel') test('S0-21: a text of 1,048,576 characters goes through', longest);

  test('the text stays when the server has ended', async () => {
    const server = await serve(open(), backend);
    await server.call('set_clipboard', { text: 'left behind' });
    server.process.stdin?.end();
    expect(await server.exited).toBe(0);
    expect(other.read(open())).toBe('left behind');
  });
}

const hasX11 = [ensureProgram('Xvfb'), ensureProgram('xclip'), ensureProgram('xsel')];

describe.skipIf(hasX11.includes(false))('X11', () => {
  let display: Display;
  beforeAll(async () => {
    display = await startX11();
  });
  afterAll(() => display?.close());
  describe('through xclip, seen by xsel', () => exchange(() => display, xsel, 'xclip'));
  describe('through xsel, seen by xclip', () => exchange(() => display, xclip, 'xsel'));

  test('xsel rejects NUL before anything is changed', async () => {
    const server = await serve(display, 'xsel');
    await server.call('set_clipboard', { text: 'kept' });
    expect((await server.call('set_clipboard', { text: texts.nul })).error).toMatchObject({
      code: -32001,
      data: {
        details: 'Failed to access system clipboard: xsel cannot store a NUL character',
        remedy: 'Install xclip',
      },
    });
    expect((await server.call('get_clipboard')).result.content[0].text).toBe('kept');
  });

  test('texts that are read or set at the same time are complete', async () => {
    const server = new ServerProcess(['serve', 'local'], { ...display.env, XDG_DATA_HOME: temporaryFolder() });
    await server.initialize();
    // Longer than one message of X11: such a text travels in pieces.
    const long = 'x'.repeat(1_048_576);
    xclip.write(display, long);
    const together = async (name: string, args: readonly object[]): Promise<string[]> => {
      const sent = args.map((each, n) => ({ id: `${name} ${n}`, params: { name, arguments: each } }));
      for (const each of sent) server.send({ jsonrpc: '2.0', method: 'tools/call', ...each });
      const texts: string[] = [];
      for (const _ of sent) texts.push((await server.next()).result.content[0].text);
      return texts;
    };
    server.lines.length = 0;
    const read = await together('get_clipboard', Array(20).fill({}));
    expect(read.map((text) => text.length)).toEqual(Array(20).fill(long.length));
    const written = await together(
      'set_clipboard',
      read.map((_, n) => ({ text: `text ${n}` })),
    );
    expect(written).toEqual(Array(20).fill('Text copied to clipboard'));
  });

  test('a display that has ended is the documented error, and the server keeps running', async () => {
    const server = new ServerProcess(['serve', 'clipboard'], { DISPLAY: ':4095' });
    await server.initialize();
    expect((await server.call('get_clipboard')).error).toMatchObject({
      code: -32001,
      data: { details: 'Failed to access system clipboard: No display environment available' },
    });
    expect((await server.request('ping')).result).toEqual({});
  });
});

const hasWayland = [ensureProgram('sway'), ensureProgram('wl-copy')];

describe.skipIf(hasWayland.includes(false))('Wayland', () => {
  let display: Display;
  beforeAll(async () => {
    display = await startWayland();
  });
  afterAll(() => display?.close());
  exchange(() => display, wayland);
});
