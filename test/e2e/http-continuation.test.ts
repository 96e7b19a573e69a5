// Calls and sessions that one process starts and another continues, when they share only the key.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type HttpTestClient, initializeBody } from '../support/http-client.ts';
import { type HttpProcess, startHttpProcess, useHttpProcess } from '../support/http-process.ts';

useHttpProcess();
let replicas: HttpProcess[];
beforeAll(async () => {
  const shared = { MOORING_TEST_KEY: 'one long key for all replicas of this test' };
  replicas = [
    await startHttpProcess(shared),
    await startHttpProcess(shared),
    await startHttpProcess({ MOORING_TEST_KEY: 'another deployment has this other key' }),
  ];
});
afterAll(() => {
  for (const { client } of replicas) client.close();
});

const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const call = (client: HttpTestClient, more: object = {}): Promise<Answer> =>
  client.modern('tools/call', { name: 'order', ...more }, { meta });
const accept = (name: string) => ({ action: 'accept', content: { name } });

test('a call with an input request is started by one process and continued by another', async () => {
  const [here, there, other] = replicas.map(({ client }) => client) as [HttpTestClient, HttpTestClient, HttpTestClient];
  const first = await call(here);
  expect(first.json.result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { first: { method: 'elicitation/create' } },
  });

  const second = await call(here, { inputResponses: { first: accept('Ada') } });
  expect(second.json.result).toMatchObject({ resultType: 'input_required', inputRequests: { second: {} } });
  const requestState = second.json.result?.['requestState'] as string;

  const last = await call(there, { inputResponses: { second: accept('Bob') }, requestState });
  const text = (last.json.result?.['content'] as { text: string }[] | undefined)?.[0]?.text ?? '';
  // What the first process did is not done again by the second.
  expect(JSON.parse(text)).toEqual({
    first: { name: 'Ada' },
    made: `made by ${replicas[0]?.child.pid}`,
    second: { name: 'Bob' },
  });

  const rejected = await call(other, { inputResponses: { second: accept('Bob') }, requestState });
  expect(rejected.json.error?.code).toBe(-32602);
});

test('a session opened by one process is served by another, and survives the first', async () => {
  const [here, there] = replicas as [HttpProcess, HttpProcess];
  const opened = await here.client.send({ body: initializeBody('2025-11-25') });
  const session = opened.headers['mcp-session-id'] as string;
  here.child.kill('SIGKILL');
  await here.exit;
  const answer = await there.client.session(session, 'tools/call', { name: 'waiting' });
  expect(answer.json.result).toMatchObject({ content: [{ text: '0' }] });
});
