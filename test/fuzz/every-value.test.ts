// Every JSON value in every position of a message, over every transport, with every profile; and every path with every
// method. Nothing here is random: fuzz.test.ts is. The process must keep running, and every answer must be well-formed.

import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { openFrames } from './frames.ts';
import { everyMessage, jsonValues } from './json-values.ts';
import { type ProfileName, profileNames, revisionsOf } from './profiles.ts';
import { openEvents, openReply, openSession, openSse } from './sessions.ts';
import { openStdio, openWebSocket, patienceMs, probe, startHttp, type Target } from './targets.ts';

/** How many messages make a case: one that is answered wrongly is looked for among these. */
const messagesPerCase = 12;

/** By default each message goes to a part of the targets or paths, and each of those gets a part of the messages. */
const parts = isFullRun ? 1 : 4;
let targets = 0;

async function sweep(target: Target): Promise<void> {
  try {
    const part = targets++ % parts;
    const messages = [...everyMessage(1_000)].filter((_, at) => at % parts === part).map((text) => Buffer.from(text));
    for (let from = 0, serial = 1; from < messages.length; from += messagesPerCase, serial++) {
      const frames = messages.slice(from, from + messagesPerCase);
      const why = await target.run(frames, serial);
      const sent = frames.map((frame) => frame.toString().slice(0, 300)).join('\n');
      expect(why, `one of these was not answered as it should be:\n${sent}`).toBeUndefined();
    }
  } finally {
    await target.close();
  }
}

const newest = (profile: ProfileName): string => revisionsOf(profile).at(-1) as string;
const oldest = (profile: ProfileName): string => revisionsOf(profile)[0] as string;
const timeout = 180_000;

/** Over HTTP with these: the other profiles have other handlers, which stdio reaches too, and the same endpoint. */
const overHttp: readonly ProfileName[] = isFullRun ? profileNames : ['everything'];

test.each(profileNames)('%s: every value over stdio', { timeout }, async (profile) =>
  sweep(await openStdio(newest(profile), profile)),
);

describe.each(overHttp)('%s', (profile) => {
  test('every value in a session', { timeout }, async () => sweep(await openSession(newest(profile), profile)));
  test('every value for an event stream', { timeout }, async () => sweep(await openSse(oldest(profile), profile)));
  test('every value over a WebSocket', { timeout }, async () => sweep(await openWebSocket(newest(profile), profile)));

  test('every path with every method', { timeout }, async () => {
    const { server, port } = await startHttp(profile);
    try {
      expect(await sweepPaths(port)).toEqual([]);
      expect(server.dead ?? (await probe(port))).toBeUndefined();
    } finally {
      await server.close();
    }
  });
});

test('every value at a path that responds in the body', { timeout }, async () => sweep(await openReply('2024-11-05')));
test('every value in a session that was opened by its stream', { timeout }, async () =>
  sweep(await openEvents('2024-11-05')),
);

test('every path with every method, where tokens are required', { timeout }, async () => {
  const issuer = ['--auth-issuer', 'https://127.0.0.1:9', '--public-url', 'https://mcp.example.com/mcp'];
  const { server, port } = await startHttp('everything', ...issuer);
  try {
    expect(await sweepPaths(port)).toEqual([]);
    expect(server.dead ?? (await probe(port))).toBeUndefined();
  } finally {
    await server.close();
  }
});

test('a frame of every opcode and length with a value in it', { timeout }, async () => {
  const target = await openFrames('', 'everything');
  try {
    for (let first = 0; first < 256; first++) {
      const payload = Buffer.from(jsonValues[first % jsonValues.length] as string).subarray(0, 125);
      const frame = Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
      expect(await target.run([frame, frame], first), `first byte ${first}`).toBeUndefined();
    }
  } finally {
    await target.close();
  }
});

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'];
const paths = [
  ...['/mcp', '/mcp/', '/mcp?x=1', '/mcp/sse', '/sse', '/sse?sessionId=x', '/message', '/message?sessionId=x'],
  ...['/message?sessionId=', '/message?sessionId=%00&sessionId=__proto__', '/health', '/health/live', '/health/ready'],
  ...['/metrics', '/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'],
  ...['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration', '/.well-known/x', '/register'],
  ...['/', '//', '/%', '/%00', '/..%2f..', '/__proto__', '/constructor', '/toString', '/favicon.ico', '*'],
];

/** Bodies for methods that mostly have none. */
const odd = ['null', '[]', '{"toString":1}'];

/** What is wrong with the answers to all of them; nothing, one hopes. */
async function sweepPaths(port: number): Promise<string[]> {
  let turn = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const flaws: string[] = [];
  for (const path of paths) {
    for (const method of methods) {
      const part = turn++ % parts;
      const values = method === 'POST' ? jsonValues.filter((_, at) => at % parts === part) : odd;
      const bodies = [undefined, ...values];
      const asked = bodies.map(async (body) => {
        const flaw = await ask(port, agent, method, path, body);
        if (flaw !== undefined) flaws.push(`${method} ${path} with ${body?.slice(0, 80)}: ${flaw}`);
      });
      await Promise.all(asked);
      if (flaws.length > 5) return flaws;
    }
  }
  agent.destroy();
  return flaws;
}

function ask(port: number, agent: Agent, method: string, path: string, body: string | undefined) {
  return new Promise<string | undefined>((resolve) => {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const headers = {
      Host: `127.0.0.1:${port}`,
      Accept: 'application/json, text/event-stream',
      ...(bytes === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': bytes.length }),
    };
    const options = { host: '127.0.0.1', port, method, path, headers, agent, timeout: patienceMs };
    const outgoing = httpRequest(options, (response) => {
      read(response).then(resolve, (error: unknown) => resolve(`the answer breaks off: ${error}`));
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
    outgoing.on('error', (error) => resolve(String(error)));
    outgoing.end(bytes);
  });
}

/** Undefined for a good answer. A stream is good once it has begun. */
async function read(response: IncomingMessage): Promise<string | undefined> {
  const { statusCode = 0, headers } = response;
  const type = headers['content-type'] ?? '';
  if (statusCode >= 500 && statusCode !== 501) return `status ${statusCode}`;
  if (type.startsWith('text/event-stream')) {
    response.destroy();
    return undefined;
  }
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  if (!type.startsWith('application/json') || text === '') return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return `not an object: ${text.slice(0, 100)}`;
  const { error } = value as { readonly error?: { readonly code?: unknown; readonly message?: unknown } };
  const isError = error !== undefined && Number.isInteger(error.code) && typeof error.message === 'string';
  return statusCode >= 400 && !isError ? `an error that is none: ${text.slice(0, 200)}` : undefined;
}
