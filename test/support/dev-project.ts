// A project that `mooring dev` runs in tests, and what it prints.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Client } from '../../src/client/index.ts';
import type { Home } from './program.ts';

const root = resolve(import.meta.dirname, '../..');

export const eras = [
  { era: 'handshake', revision: 'handshake' },
  { era: 'stateless', revision: '2026-07-28' },
];

/** What the program has printed to stderr; `until` waits for a text that was not waited for yet. */
export class Printed {
  #text = '';
  #wake: (() => void) | undefined;

  add(text: string): void {
    this.#text += text;
    this.#wake?.();
  }

  async until(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#text);
      if (found !== null) {
        this.#text = this.#text.slice(found.index + found[0].length);
        return found[0];
      }
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }
}

export const tools = (description: string): string => `
  import type { Server } from 'mooring';
  export function addTools(server: Server): void {
    server.tool('greet', { description: ${JSON.stringify(description)}, run: (): string => ${JSON.stringify(description)} });
    server.tool('fail', { description: 'Fails', run: () => { throw new Error('no such tide') } });
    server.tool('wait', { description: 'Waits', run: () => { console.error('wait begins'); return new Promise(() => {}) } });
  }`;

/** A server with a resource that changes when its tool `change` is called. */
export const tideServer = (tide: string): string => `
  import { createServer } from 'mooring';
  export const server = createServer({ name: 'dev', version: '1.0.0' });
  server.resource('tide://now', { name: 'Tide', read: () => ${JSON.stringify(tide)} });
  server.tool('change', { description: 'Changes', run: (_args, ctx) => {
    ctx.log('debug', ${JSON.stringify(tide)});
    server.resourceUpdated('tide://now');
  } });`;

/** Replaces a file as editors do. */
export function save(home: Home, name: string, text: string): void {
  const file = home.file(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}~`, text);
  renameSync(`${file}~`, file);
}

/** Writes src/server.ts, which imports src/tools.ts. */
export function writeProject(home: Home): void {
  mkdirSync(home.file('node_modules'));
  symlinkSync(root, home.file('node_modules/mooring'));
  symlinkSync(join(root, 'node_modules/esbuild'), home.file('node_modules/esbuild')); // for Node before 22.18
  save(home, 'package.json', '{ "type": "module" }');
  save(home, 'src/tools.ts', tools('first'));
  // The extension .js is how TypeScript projects that compile import a file.
  save(
    home,
    'src/server.ts',
    `import { createServer } from 'mooring';
     import { addTools } from './tools.js';
     export const server = createServer({ name: 'dev', version: '1.0.0' });
     addTools(server);`,
  );
}

/** The text that a tool returns. */
export const textOf = async (client: Client, tool: string): Promise<unknown> => {
  const [block] = (await client.callTool(tool)).content;
  return block?.type === 'text' ? block.text : block;
};
