// What the compiler infers for users of the client. Never run: `npm run check` compiles it.

import { expectTypeOf } from 'vitest';
import {
  type Change,
  type Client,
  ClientError,
  type ClientErrorCode,
  connect,
  type InputHandlers,
  inMemory,
  type Page,
  type ServerEntry,
  type Transport,
} from '../../src/client/index.ts';
import {
  type Completion,
  createServer,
  type PromptResult,
  type ReadResult,
  type Tool,
  type ToolResult,
} from '../../src/index.ts';

export async function targets(transport: Transport, entry: ServerEntry): Promise<void> {
  const server = createServer({ name: 'a', version: '1' });
  inMemory(server, { principal: { id: 'guest' } });
  inMemory(server, { transport: 'stdio' });
  // @ts-expect-error: a principal has an id
  inMemory(server, { principal: { name: 'guest' } });
  expectTypeOf(connect('npx -y mooring')).resolves.toEqualTypeOf<Client>();
  await connect(new URL('http://127.0.0.1:8000/mcp'));
  await connect(['node', 'server.js'], { cwd: '/', env: { A: 'b' }, inheritEnv: ['PATH'] });
  await connect(entry);
  await connect(transport);
  await connect(inMemory(server));
  // @ts-expect-error: a number is no server
  await connect(8000);
  // @ts-expect-error: no such option
  await connect('npx -y mooring', { timeout: 1 });
}

export async function calls(client: Client): Promise<void> {
  expectTypeOf(client.listTools()).resolves.toEqualTypeOf<Tool[]>();
  expectTypeOf(client.pageTools('cursor')).resolves.toEqualTypeOf<Page<Tool>>();
  expectTypeOf(client.callTool('a', { b: 1 }, { idempotent: true })).resolves.toEqualTypeOf<ToolResult>();
  expectTypeOf(client.readResource('a:b', { cache: 'refresh' })).resolves.toEqualTypeOf<ReadResult>();
  expectTypeOf(client.getPrompt('a', { b: 'c' })).resolves.toEqualTypeOf<PromptResult>();
  const request = { ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'b', value: '' } } as const;
  expectTypeOf(client.complete(request)).resolves.toEqualTypeOf<Completion>();
  expectTypeOf(client.serverInfo?.name).toEqualTypeOf<string | undefined>();
  for await (const change of await client.subscribe('a:b')) expectTypeOf(change).toEqualTypeOf<Change>();
  // @ts-expect-error: arguments of prompts are texts
  await client.getPrompt('a', { b: 1 });
  // @ts-expect-error: how a cache is used is one of three words
  await client.listTools({ cache: 'never' });
}

export const handlers: InputHandlers = {
  elicit: ({ message, schema }, { signal }) => {
    expectTypeOf(message).toEqualTypeOf<string>();
    expectTypeOf(schema).toExtend<object>();
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
    return { action: 'accept', content: { name: 'Ada' } };
  },
  sample: async () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
  roots: [{ uri: 'file:///srv' }],
};
// @ts-expect-error: `maybe` is no action
export const wrongAction: InputHandlers = { elicit: () => ({ action: 'maybe' }) };

export async function errors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ClientError) expectTypeOf(error.code).toEqualTypeOf<ClientErrorCode>();
  }
}
