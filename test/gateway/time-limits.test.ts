// Time limits of calls while a user is asked: only those of the calls that the input request belongs to are paused.

import { afterEach, expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { gatewayConfig, upstream } from './fixture.ts';
import { scriptedUpstream, type UpstreamSide } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const timeoutMs = 400;
const form = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const accepted = { action: 'accept', content: { name: 'Ada' } };

/** A gateway with one connection for all callers, to a server that answers calls when the test says so. */
function start() {
  const { target, called } = scriptedUpstream(() => {});
  const config = upstream('one', { revision: '2025-11-25', timeoutMs, maxTimeoutMs: 60_000 });
  const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => target });
  closers.push(() => gateway.close());
  return { gateway, called };
}

function session(gateway: Gateway, id: string): Promise<TestClient> {
  const peer = { transport: 'memory', principal: { id } } as const;
  return TestClient.open(gateway.server, '2025-11-25', { elicitation: { form: {} } }, peer);
}

const callsOf = (side: UpstreamSide | undefined) =>
  side?.received.filter(({ method }) => method === 'tools/call') ?? [];

function finish(side: UpstreamSide, call: number, text: string): void {
  side.send({ id: callsOf(side)[call]?.id, result: { content: [{ type: 'text', text }] } });
}

const textOf = ({ result }: Message): string => result.content[0].text;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a question to one caller does not pause the time limit of another', async () => {
  const { gateway, called } = start();
  const [ada, bob] = [await session(gateway, 'ada'), await session(gateway, 'bob')];
  await ada.request('tools/list');
  const asking = ada.call('one__work');
  await expect.poll(() => callsOf(called()).length).toBe(1);
  const side = called();
  const answered = side.request('q', 'elicitation/create', form);
  const { id } = await ada.next(({ method }) => method === 'elicitation/create');
  const late = await bob.call('one__work');
  expect([late.result.isError, textOf(late)]).toEqual([true, expect.stringMatching(/no response.*400 ms/i)]);
  await side.next(({ method, params }) => method === 'notifications/cancelled' && params?.['reason'] === 'timeout');
  ada.send({ jsonrpc: '2.0', id, result: accepted });
  expect((await answered).result).toEqual(accepted);
  finish(side, 0, 'Hello Ada');
  expect(textOf(await asking)).toBe('Hello Ada');
});

/** Calls of one client, during which the server asks a question that takes twice the time limit to be answered. */
async function callsWithLateAnswer(count: number) {
  const { gateway, called } = start();
  const ada = await session(gateway, 'ada');
  await ada.request('tools/list');
  const calls = Array.from({ length: count }, () => ada.call('one__work'));
  await expect.poll(() => callsOf(called()).length).toBe(count);
  const side = called();
  const answered = side.request('q', 'elicitation/create', form);
  const { id } = await ada.next(({ method }) => method === 'elicitation/create');
  await pause(timeoutMs * 2);
  ada.send({ jsonrpc: '2.0', id, result: accepted });
  await answered;
  return { calls, side };
}

test('a question may belong to each call of its caller, so all of them wait for the user', async () => {
  const { calls, side } = await callsWithLateAnswer(2);
  finish(side, 0, 'first');
  finish(side, 1, 'second');
  expect((await Promise.all(calls)).map(textOf)).toEqual(['first', 'second']);
});

test('the time limit of a call goes on when its question is answered', async () => {
  const { calls } = await callsWithLateAnswer(1);
  expect((await calls[0])?.result.isError).toBe(true);
});
