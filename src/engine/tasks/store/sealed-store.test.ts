import { expect, test } from 'vitest';
import { taskRecord } from '../../../../test/support/task-records.ts';
import type { Sealer } from '../../ports.ts';
import { createSealer } from '../../sealer.ts';
import { createMemoryTaskStore } from './memory-store.ts';
import { sealedReason, sealTasks } from './sealed-store.ts';
import type { TaskChange, TaskRecord, TaskStore } from './task-store.ts';

const key = (first: number) => Uint8Array.from({ length: 32 }, (_, n) => (n * n * 37 + n * 11 + first) % 256);
const sealer = createSealer(key(1));

const secret = 'a secret text';
const record = taskRecord({
  arguments: { secret },
  digest: secret,
  message: secret,
  ticket: secret,
  context: { principal: { id: secret }, clientInfo: { name: secret, version: '1' }, capabilities: {}, revision: 'r' },
  inputs: [
    { key: 'a', kind: 'k', method: 'm', params: { secret }, requestedAtMs: 1, response: { secret }, answeredAtMs: 2 },
  ],
  steps: [{ key: 's', state: 'done', value: secret }],
});
const changes: TaskChange[] = [
  { type: 'request-input', inputs: [{ key: 'b', kind: 'k', method: 'm', params: { secret }, requestedAtMs: 1 }] },
  { type: 'answer-input', key: 'b', response: secret },
  { type: 'finish-step', key: 't', value: secret },
  { type: 'set-message', message: secret },
  { type: 'hand-over', ticket: secret },
];
const end: TaskChange = {
  type: 'end',
  outcome: { type: 'result', result: { content: [{ type: 'text', text: secret }] }, isError: false },
  expiresAtMs: null,
};

/** A store in memory, the same with encryption, and a task in them. */
async function filled(): Promise<{ plain: TaskStore; sealed: TaskStore }> {
  const plain = createMemoryTaskStore();
  const sealed = sealTasks(plain, sealer);
  await sealed.create(record);
  return { plain, sealed };
}

test('nothing that a task contains reaches the store readable, and all of it comes back', async () => {
  const { plain, sealed } = await filled();
  expect(await sealed.read(record.id)).toEqual(record);
  expect(JSON.stringify(await plain.read(record.id))).not.toContain(secret);
  const changed = await sealed.change(record.id, {}, [...changes, end]);
  expect(changed).toMatchObject({
    message: secret,
    ticket: secret,
    outcome: end.outcome,
    steps: [{}, { value: secret }],
  });
  expect(JSON.stringify(await plain.read(record.id))).not.toContain(secret);
  // Another process with the same key.
  expect(await sealTasks(plain, createSealer(key(1))).read(record.id)).toEqual(changed);
});

test('what a change has just encrypted is not decrypted for its result, however long it is', async () => {
  const { plain } = await filled();
  const opened: number[] = [];
  const counting: Sealer = {
    ...sealer,
    open(purpose, token, context) {
      opened.push(token.length);
      return sealer.open(purpose, token, context);
    },
  };
  const text = 'x'.repeat(1_000_000);
  const outcome = { type: 'result', result: { content: [{ type: 'text', text }] }, isError: false } as const;
  const changed = await sealTasks(plain, counting).change(record.id, {}, [{ ...end, outcome }]);
  expect(changed).toMatchObject({ message: secret, outcome });
  // The other fields are shorter.
  expect(Math.max(...opened)).toBeLessThan(1_000);
});

test('after the key was replaced, tasks of the earlier key are read with it', async () => {
  const { plain } = await filled();
  const rotated = sealTasks(plain, createSealer({ key: key(2), previousKeys: [key(1)] }));
  expect(await rotated.read(record.id)).toEqual(record);
});

test('with another key a task has no contents, whichever way it is found', async () => {
  const { plain } = await filled();
  const other = sealTasks(plain, createSealer(key(3)));
  const empty = { sealed: true, arguments: null, inputs: [], steps: [] };
  const page = await other.list({ limit: 5 });
  const claimed = await other.claim('p', ['server'], 1_000, 5);
  for (const found of [page.tasks[0], claimed[0], await other.read(record.id)]) {
    expect(found).toMatchObject({ id: record.id, ...empty });
    expect(found).not.toHaveProperty('ticket');
    expect(found).not.toHaveProperty('message');
  }
});

test('an outcome that cannot be decrypted is an error that says so', async () => {
  const { plain, sealed } = await filled();
  await sealed.change(record.id, {}, [end]);
  const outcome = { type: 'error', code: -32603, message: sealedReason };
  expect((await sealTasks(plain, createSealer(key(3))).read(record.id))?.outcome).toEqual(outcome);
  // Without a key at all, the encrypted outcome itself is such an error.
  expect((await plain.read(record.id))?.outcome).toMatchObject(outcome);
});

test('a value that was moved to another task or field does not open', async () => {
  const { plain, sealed } = await filled();
  const stored = (await plain.read(record.id)) as TaskRecord;
  const moved: Partial<TaskRecord>[] = [
    { id: taskRecord().id },
    { arguments: stored.digest },
    { steps: [{ key: 'other', state: 'done', value: stored.steps[0]?.value ?? null }] },
    { message: stored.digest },
    { context: { ...stored.context, principal: stored.arguments } },
    { arguments: { forged: true } },
  ];
  for (const change of moved) {
    const forged = { ...stored, id: taskRecord().id, ...change };
    await plain.create(forged);
    expect(await sealed.read(forged.id)).toMatchObject({ sealed: true, arguments: null });
  }
});

test('a task that was stored without a key is not accepted with one', async () => {
  const { plain, sealed } = await filled();
  const planted = taskRecord();
  await plain.create(planted);
  expect(await sealed.read(planted.id)).toMatchObject({ sealed: true, arguments: null });
});

test('a value is decrypted once while it is used', async () => {
  let opened = 0;
  const counting = {
    ...sealer,
    open: (...given: Parameters<typeof sealer.open>) => {
      opened++;
      return sealer.open(...given);
    },
  };
  const plain = createMemoryTaskStore();
  const sealed = sealTasks(plain, counting);
  await sealed.create(record);
  for (let n = 0; n < 20; n++) await sealed.change(record.id, {}, [{ type: 'finish-step', key: `${n}`, value: n }]);
  expect(opened).toBe(0);
  const other = sealTasks(plain, counting);
  await other.read(record.id);
  const first = opened;
  await other.read(record.id);
  expect(opened).toBe(first);
});

test('a poll that finds nothing new is answered at once, with the same record; a change is seen', async () => {
  const { sealed } = await filled();
  const first = await sealed.read(record.id);
  expect(sealed.read(record.id)).toBe(first);
  await sealed.change(record.id, {}, [{ type: 'set-message', message: 'changed' }]);
  expect(await sealed.read(record.id)).toMatchObject({ message: 'changed' });
});
