// The programs in the guides run as they are printed there, from the built package, and do what the page says.

import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transformSync } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
// In the package, so that the name "mooring" leads to what was built.
const folder = join(root, '.tmp', `guides-${process.pid}`);
let files = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the first snippet of a page that contains `mark`, without its types, and returns the path of the file. */
function program(page: string, mark: string): string {
  const text = readFileSync(join(root, 'docs/guide', page), 'utf8');
  const found = [...text.matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].find(([, code = '']) => code.includes(mark));
  if (found === undefined) throw new Error(`${page} has no snippet with ${mark}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${page.replace(/\.md$/, '')}-${files++}.mjs`);
  writeFileSync(file, transformSync(found[1] as string, { loader: 'ts', format: 'esm' }).code);
  return file;
}

const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const firstText = (result: { content: readonly unknown[] }): unknown => (result.content[0] as { text?: string }).text;

const checks: Readonly<Record<string, (client: Client) => Promise<void>>> = {
  'tools.md': async (client) => {
    const { structuredContent } = await client.callTool('convert_temperature', { value: 20, to: 'fahrenheit' });
    expect(structuredContent).toEqual({ value: 68, unit: 'fahrenheit' });
    const wrong = await client.callTool('convert_temperature', { value: 20, to: 'kelvin' });
    expect(wrong.isError).toBe(true);
    expect(firstText(wrong)).toContain('to');
  },
  'resources.md': async (client) => {
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual([
      'library://catalog',
      'library://books/dune',
      'library://books/emma',
    ]);
    const { contents } = await client.readResource('library://books/dune');
    expect(JSON.parse(contents[0]?.text ?? '')).toEqual({ title: 'Dune', pages: 412 });
    await expect(client.readResource('library://books/none')).rejects.toThrow(/There is no resource/);
  },
  'prompts.md': async (client) => {
    const { messages } = await client.getPrompt('translate', { text: 'Guten Tag', language: 'English' });
    expect(messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Translate this into English. Keep the tone.\n\nGuten Tag' } },
    ]);
    await expect(client.getPrompt('translate', {})).rejects.toThrow(/text/);
  },
  'middleware.md': async (client) => {
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['add_entry', 'statistics']);
    await client.callTool('add_entry');
    await client.callTool('add_entry');
    expect((await client.callTool('statistics')).structuredContent).toEqual({ add_entry: 2 });
    await expect(client.callTool('close_books')).rejects.toThrow(/close_books/);
  },
  'logging-and-debugging.md': async (client) => {
    expect(firstText(await client.callTool('forecast', { city: 'Oslo' }))).toBe('Oslo: 12 °C');
    expect(await client.callTool('forecast', { city: '' })).toMatchObject({ isError: true });
  },
  'writing-a-pack.md': async (client) => {
    expect(firstText(await client.callTool('add_note', { text: 'tide at 9' }))).toBe('Note 1 stored');
    expect((await client.readResource('notes://all')).contents).toMatchObject([{ text: 'tide at 9' }]);
  },
  'migrating-from-the-official-sdk.md': async (client) => {
    expect(firstText(await client.callTool('forecast', { city: 'Oslo' }))).toBe('Oslo: 12 °C');
  },
  'migrating-from-fastmcp.md': async (client) => {
    expect(firstText(await client.callTool('add', { a: 1, b: 2 }))).toBe('3');
  },
};

test.each(Object.keys(checks))('the first server of %s runs', async (page) => {
  const client = await connect([process.execPath, program(page, 'await serveStdio(')]);
  await checks[page]?.(client).finally(() => client.close());
});

test.each(['assert.equal(isError', "'Ordered' : ", "id: 'guest'", 'connectInMemory(server)', 'for (const revision of'])(
  'the program with %s of testing.md runs',
  async (mark) => {
    const ended = await run(process.execPath, [program('testing.md', mark)]);
    expect(ended.stdout).not.toMatch(/^# fail [1-9]/m);
  },
);

test.each([
  ['migrating-from-the-official-sdk.md', 'StdioServerTransport', 'forecast', { city: 'Oslo' }],
  ['migrating-from-the-official-sdk.md', 'serveStdio(() =>', 'forecast', { city: 'Oslo' }],
  ['migrating-from-fastmcp.md', 'new FastMCP', 'add', { a: 1, b: 2 }],
])('%s: the server with %s and its successor give the same result', async (page, mark, tool, args) => {
  const results = [];
  for (const each of [mark, 'await serveStdio(server)']) {
    const client = await connect([process.execPath, program(page, each)]);
    results.push((await client.callTool(tool, args).finally(() => client.close())).content);
  }
  expect(results[0]).toEqual(results[1]);
});

/** Starts a program of embedding.md, and stops it after `use`. */
async function withApplication(mark: string, use: (url: string) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, [program('embedding.md', mark)], { env: { ...process.env, PORT: '0' } });
  try {
    await use(
      await new Promise<string>((found, fail) => {
        let printed = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
          const address = /listening on (\S+)\n/.exec(printed)?.[1];
          if (address !== undefined) found(address);
        });
        child.once('exit', () => fail(new Error(`it ended: ${printed}`)));
      }),
    );
  } finally {
    child.kill();
  }
}

test.each(['new Hono()', 'app.use(express.json())', 'Fastify()'])(
  'the application with %s in embedding.md serves MCP beside its pages',
  (mark) =>
    withApplication(mark, async (url) => {
      expect(await (await fetch(new URL('/', url))).text()).toBe('The shop');
      for (const revision of ['2025-11-25', '2026-07-28']) {
        const client = await connect(url, { revision });
        expect(firstText(await client.callTool('opening_hours').finally(() => client.close()))).toBe('9 to 17');
      }
    }),
);

test('the application that authenticates in embedding.md knows the user', () =>
  withApplication('who_am_i', async (url) => {
    const client = await connect(url, { headers: { cookie: 'session=ada' } });
    expect(firstText(await client.callTool('who_am_i').finally(() => client.close()))).toBe('ada');
    await expect(connect(url, { headers: { 'x-user': 'ada' } })).rejects.toMatchObject({ code: 'unauthorized' });
  }));

test.each(['handle as POST', 'createHandler(env.MCP_KEY)'])(
  'the module with %s in embedding.md answers',
  async (mark) => {
    const module = await import(pathToFileURL(program('embedding.md', mark)).href);
    const handle = module.POST ?? ((request: Request) => module.default.fetch(request, { MCP_KEY: randomBytes(32) }));
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const address = 'https://shop.example.workers.dev/mcp';
    const response = await handle(new Request(address, { method: 'POST', headers, body: JSON.stringify(body) }));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"name":"shop"');
  },
);
