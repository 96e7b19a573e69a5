// What our client must be able to do with servers of others, in words of what each of them offers. A feature a server
// lacks is not asked for; the row says so.
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Client,
  ClientError,
  type ConnectOptions,
  connect,
  type InputHandlers,
  type Target,
} from '../../src/client/index.ts';

type Invocation = readonly [name: string, args?: Record<string, unknown>];

/** What a third-party server offers. */
export interface ThirdPartyServer {
  readonly revision: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly serverName: string;
  readonly echo: Invocation & { readonly 0: string };
  readonly echoes: string;
  readonly structured?: { readonly call: Invocation; readonly value: unknown };
  readonly progress?: { readonly call: Invocation; readonly steps: readonly number[] };
  readonly asks?: { readonly call: Invocation; readonly text: RegExp };
  readonly samples?: { readonly call: Invocation; readonly text: RegExp };
  /** A call that ends only when it is cancelled, and one that tells how many were. */
  readonly cancels?: { readonly call: Invocation; readonly count?: Invocation };
  readonly resource: { readonly uri: string; readonly text: RegExp };
  readonly watches?: { readonly uri: string; readonly trigger: Invocation };
  readonly prompt: { readonly name: string; readonly args: Record<string, string>; readonly text: RegExp };
}

/** The script of an official server. */
export const packaged = (name: string): string =>
  join(dirname(createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`)), 'dist/index.js');

export const referenceServer = packaged('server-everything');

/** What it has. */
export const referenceOffer = {
  echo: ['echo', { message: 'hi' }],
  echoes: 'Echo: hi',
  structured: { call: ['get-structured-content', { location: 'Chicago' }], value: { temperature: 36 } },
  progress: { call: ['trigger-long-running-operation', { duration: 0.4, steps: 4 }], steps: [1, 2, 3, 4] },
  asks: { call: ['trigger-elicitation-request'], text: /Name: Ada/ },
  samples: { call: ['trigger-sampling-request', { prompt: 'Capital?', maxTokens: 10 }], text: /Paris/ },
  // It works on regardless, so that it cannot tell.
  cancels: { call: ['trigger-long-running-operation', { duration: 20, steps: 2 }] },
  watches: { uri: 'demo://resource/static/document/architecture.md', trigger: ['toggle-subscriber-updates'] },
  resource: { uri: 'demo://resource/static/document/architecture.md', text: /Architecture/ },
  prompt: { name: 'args-prompt', args: { city: 'Hamburg' }, text: /Hamburg/ },
} as const satisfies Partial<ThirdPartyServer>;

/** What the servers under servers/ have, whatever they are built with. */
export const demo = {
  echo: ['echo', { text: 'hi' }],
  echoes: 'hi',
  progress: { call: ['steps'], steps: [1, 2, 3] },
  asks: { call: ['ask'], text: /^Hello, Ada!$/ },
  samples: { call: ['think'], text: /^Paris$/ },
  cancels: { call: ['wait'], count: ['cancellations'] },
  resource: { uri: 'demo://greeting', text: /^hello$/ },
  watches: { uri: 'demo://counter', trigger: ['bump'] },
  prompt: { name: 'greet', args: { name: 'Ada' }, text: /^Greet Ada$/ },
} as const satisfies Partial<ThirdPartyServer>;

const sample = {
  role: 'assistant' as const,
  model: 'a-model',
  stopReason: 'endTurn',
  content: { type: 'text' as const, text: 'Paris' },
};

/** Of a client that answers every kind of input request. */
export const allHandlers: InputHandlers = {
  elicit: () => ({ action: 'accept', content: { name: 'Ada', check: true, email: 'ada@example.org' } }),
  sample: () => sample,
  roots: [{ uri: 'file:///home/ada', name: 'home' }],
};

/** Declares the scenarios for one server. */
export function describeThirdParty(
  title: string,
  offer: ThirdPartyServer,
  target: () => Target | Promise<Target>,
  options: ConnectOptions = {},
): void {
  describe(title, () => {
    let client: Client;
    beforeAll(async () => {
      client = await connect(await target(), {
        ...options,
        handlers: allHandlers,
      });
    });
    afterAll(() => client?.close());
    const call = async ([name, args]: Invocation): Promise<string> => {
      const { content } = await client.callTool(name, args ?? {});
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    };

    test('negotiates the expected revision over the expected transport', () => {
      expect(client.revision).toBe(offer.revision);
      expect(client.transport).toBe(offer.transport);
      expect(client.serverInfo?.name).toBe(offer.serverName);
    });

    test('lists tools, resources and prompts', async () => {
      expect((await client.listTools()).map(({ name }) => name)).toContain(offer.echo[0]);
      expect((await client.listResources()).map(({ uri }) => uri)).toContain(offer.resource.uri);
      expect((await client.listPrompts()).map(({ name }) => name)).toContain(offer.prompt.name);
    });

    test('calls, one by one and many at once', async () => {
      expect(await call(offer.echo)).toBe(offer.echoes);
      const many = await Promise.all(Array.from({ length: 30 }, () => call(offer.echo)));
      expect(new Set(many)).toEqual(new Set([offer.echoes]));
    });

    test('reads, gets and pings', async () => {
      const { contents } = await client.readResource(offer.resource.uri);
      expect(contents[0]?.text).toMatch(offer.resource.text);
      const { messages } = await client.getPrompt(offer.prompt.name, offer.prompt.args);
      expect(messages[0]?.content).toMatchObject({ type: 'text', text: expect.stringMatching(offer.prompt.text) });
      await client.ping();
    });

    test('an unknown resource is reported as such, or at least rejected', async () => {
      const error = await client.readResource('demo://nowhere').catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ClientError);
      expect(['resource-not-found', 'server-error']).toContain((error as ClientError).code);
    });

    const { structured, progress, asks, samples, cancels, watches } = offer;
    if (structured !== undefined) {
      test('structured results fit their schema', async () => {
        await client.listTools();
        const { structuredContent } = await client.callTool(structured.call[0], structured.call[1]);
        expect(structuredContent).toMatchObject(structured.value as object);
      });
    }
    if (progress !== undefined) {
      test('reports progress', async () => {
        const steps: number[] = [];
        const [name, args = {}] = progress.call;
        await client.callTool(name, args, { onProgress: (step) => steps.push(step.progress) });
        expect(steps).toEqual(progress.steps);
      });
    }
    if (asks !== undefined) {
      test('sends elicitation requests', async () => {
        expect(await call(asks.call)).toMatch(asks.text);
      });
    }
    if (samples !== undefined) {
      test('sends sampling requests', async () => {
        expect(await call(samples.call)).toMatch(samples.text);
      });
    }
    if (cancels !== undefined) {
      test('is notified of a cancelled call', async () => {
        const abort = new AbortController();
        const [name, args = {}] = cancels.call;
        const before = cancels.count === undefined ? '' : await call(cancels.count);
        const running = client.callTool(name, args, { signal: abort.signal });
        await call(offer.echo);
        abort.abort();
        await expect(running).rejects.toMatchObject({ code: 'cancelled' });
        if (cancels.count === undefined) return;
        const { count } = cancels;
        await expect.poll(() => call(count)).toBe(String(Number(before) + 1));
      });
    }
    if (watches !== undefined) {
      test('announces changes of a resource, until it is unsubscribed', async () => {
        const watch = await client.subscribe(watches.uri);
        await call(watches.trigger);
        for await (const change of watch) {
          expect(change).toEqual({ kind: 'resource', uri: watches.uri });
          break;
        }
        await client.unsubscribe(watches.uri);
      });
    }
  });
}

/** A server in a process of its own that says where it listens. */
export interface Listening {
  readonly url: string;
  close(): void;
}

/** Starts a script and waits for "listening on <url>" on either of its outputs. */
export async function startListening(
  argv: readonly string[],
  env: Record<string, string> = {},
  said = /listening on (http\S+)/,
): Promise<Listening> {
  const child: ChildProcess = spawn(process.execPath, [...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const url = await new Promise<string>((found, failed) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        const match = said.exec(line);
        if (match) found(match[1] ?? line);
      });
    }
    child.once('exit', (code) => failed(new Error(`${argv.join(' ')} exited with ${code}`)));
  });
  return { url, close: () => void child.kill('SIGKILL') };
}

/** A port that is not in use at the moment. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((listening) => probe.listen(0, '127.0.0.1', listening));
  const { port } = probe.address() as { port: number };
  await new Promise((closed) => probe.close(closed));
  return port;
}
