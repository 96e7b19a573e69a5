// The task drivers of others with our server: ext-tasks in both dialects, and the old line's callToolStream. Each completes a
// task, answers its input, cancels one, and sees one fail.

import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, startListening } from '../client/third-party.ts';

const program = fileURLToPath(new URL('../support/task-program.mjs', import.meta.url));
const dist = process.env['MOORING_TEST_DIST'];
const command = {
  command: process.execPath,
  args: [program, 'stdio'],
  ...(dist === undefined ? {} : { env: { MOORING_TEST_DIST: dist } }),
};
const identity = { name: 'driver', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };
const answer = { action: 'accept' as const, content: { name: 'Ada' } };

let http: Listening;
beforeAll(async () => {
  http = await startListening([program, 'http']);
});
afterAll(() => http.close());

/** What a driver reports about one call: a result, an error message, or that it was cancelled. */
type Outcome = { readonly result: unknown } | { readonly error: string } | 'cancelled';

/** One way to drive tasks. */
interface Driver {
  /** `cancel`: as soon as the task is known. */
  call(name: string, cancel?: boolean): Promise<Outcome>;
  close(): Promise<void>;
}

/** The SDK does not send messages of the extension: the host does, as here over HTTP. */
const rawDispatch: RawClientDispatch = async (request) => {
  const { method, params } = request as { method: string; params: { name?: string; taskId?: string } };
  const response = await fetch(http.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      'Mcp-Name': params.taskId ?? params.name ?? '',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1];
  const message = JSON.parse(data ?? text);
  return message.error === undefined
    ? { kind: 'result', result: message.result }
    : { kind: 'error', error: message.error };
};

async function extTasks(transport: NewHttp | NewStdio, dialect: 'requested' | 'server-directed'): Promise<Driver> {
  const isRequested = dialect === 'requested';
  const client = new NewClient(identity, {
    capabilities,
    versionNegotiation: { mode: isRequested ? 'legacy' : { pin: '2026-07-28' } },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const declarations = new Map(tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]));
  const framing = { protocolVersion: '2026-07-28', clientInfo: identity, clientCapabilities: capabilities };
  const options = {
    endpointId: 'test',
    tools: { currentTool: (name: string) => declarations.get(name) },
    onInputRequest: async () => answer as never,
  };
  const session = createTaskSessionFromClient(
    client,
    isRequested ? options : { ...options, rawDispatch, v2RequestFraming: framing },
  );
  return {
    call: async (name, cancel = false) => {
      const preference = isRequested ? { task: { preference: 'require' as const } } : {};
      const execution = await session.callTool(name, {}, preference);
      expect(execution.kind).toBe('task');
      if (cancel) await execution.cancel();
      const { outcome } = await execution.settle();
      if (outcome.status === 'cancelled') return 'cancelled';
      return outcome.status === 'failed' ? { error: outcome.error.message } : { result: outcome.result };
    },
    close: async () => {
      await session.close();
      await client.close();
    },
  };
}

async function callToolStream(transport: OldHttp | OldStdio): Promise<Driver> {
  const client = new OldClient(identity, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => answer);
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  await client.listTools();
  const { tasks } = client.experimental;
  return {
    call: async (name, cancel = false) => {
      let created = false;
      for await (const message of tasks.callToolStream({ name, arguments: {} })) {
        if (message.type === 'taskCreated') {
          created = true;
          if (cancel) await tasks.cancelTask(message.task.taskId);
        } else if (message.type === 'result') {
          expect(created).toBe(true);
          return { result: message.result };
        } else if (message.type === 'error') {
          return /cancel/i.test(message.error.message) ? 'cancelled' : { error: message.error.message };
        }
      }
      return expect.unreachable('the stream ended without an outcome');
    },
    close: () => client.close(),
  };
}

const drivers: Record<string, () => Promise<Driver>> = {
  'ext-tasks with 2025-11-25 over stdio': () => extTasks(new NewStdio(command), 'requested'),
  'ext-tasks with 2025-11-25 over HTTP': () => extTasks(new NewHttp(new URL(http.url)), 'requested'),
  'ext-tasks with 2026-07-28 over HTTP': () => extTasks(new NewHttp(new URL(http.url)), 'server-directed'),
  'callToolStream over stdio': () => callToolStream(new OldStdio(command)),
  'callToolStream over HTTP': () => callToolStream(new OldHttp(new URL(http.url))),
};

describe.each(Object.entries(drivers))('%s', (_name, open) => {
  test('completes, answers, cancels and fails', { timeout: 60_000 }, async () => {
    const driver = await open();
    try {
      expect(await driver.call('structured')).toMatchObject({ result: { structuredContent: { total: 3 } } });
      expect(await driver.call('greet')).toMatchObject({ result: { content: [{ text: 'Hello, Ada' }] } });
      expect(await driver.call('introduce')).toMatchObject({ result: { content: [{ text: 'Ada meets Ada' }] } });
      expect(await driver.call('endless', true)).toBe('cancelled');
      expect(await driver.call('broken')).toEqual({ error: expect.any(String) });
    } finally {
      await driver.close();
    }
  });
});
