// Notes that are kept: adding them one by one and many at a time, and reading with 100,000 of them stored.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../contestants.mjs';
import { LineClient } from '../lib/line-client.mjs';
import { quantile } from '../lib/stats.mjs';

/** Every tag is on this many notes. */
const perTag = 50;
const inFlight = 64;

/** @type {import('../lib/suite.mjs').Suite} */
export const notes = {
  id: 'notes',
  title: 'Notes that are kept',
  note: `\`mooring serve reference\` answers when a note is on the disk (SQLite, WAL, synced); the official memory server rewrites its
file and does not sync it, and loses notes when several are added at once, so that column is empty for it.`,
  transport: 'notes',
  rounds: 3,
  columns: [
    { label: 'add/s, one by one', metric: 'addPerSec', pick: 'max' },
    { label: `add/s, ${inFlight} in flight`, metric: 'addManyPerSec', pick: 'max' },
    { label: 'with 100,000: add ms', metric: 'addMs', pick: 'min', digits: 2 },
    { label: 'times', metric: 'addMs', pick: 'min', to: 'memory', as: 'times' },
    { label: `find ${perTag} ms`, metric: 'findMs', pick: 'min', digits: 2 },
    { label: 'times', metric: 'findMs', pick: 'min', to: 'memory', as: 'times' },
    { label: 'read all ms', metric: 'allMs', pick: 'min' },
    { label: 'times', metric: 'allMs', pick: 'min', to: 'memory', as: 'times' },
    { label: 'RSS MB', metric: 'rssMb', pick: 'median' },
  ],

  async measure(contestant, _era, { ms, notes: stored }) {
    const keeper = keepers[/** @type {keyof typeof keepers} */ (contestant.id)];
    const folder = mkdtempSync(join(tmpdir(), 'mooring-bench-'));
    const open = () => LineClient.open(pathOf(contestant), { ...contestant.env, BENCH_DATA: folder });
    try {
      const empty = await open();
      const { revision } = empty;
      const addPerSec = await addFor(empty, keeper, ms, 1);
      const many = keeper.concurrent ? { addManyPerSec: await addFor(empty, keeper, ms, inFlight) } : {};
      await empty.close();
      const full = await keeper.fill(folder, stored, open);
      const figures = { addPerSec, ...many, ...(await readFull(full, keeper, stored)) };
      await full.close();
      return { revision, figures };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const tagOf = (/** @type {number} */ n, /** @type {number} */ stored) =>
  `t${String(n % Math.ceil(stored / perTag)).padStart(5, '0')}`;
const contentOf = (/** @type {number} */ n) => `note ${n}: call the harbour about the mooring before noon`;

/**
 * How each server is told the same things.
 * @typedef {object} Keeper
 * @property {boolean} concurrent  keeps all of what is added at the same time
 * @property {(client: LineClient, n: number, tag: string) => Promise<unknown>} add
 * @property {(client: LineClient, tag: string) => Promise<number>} find  how many were found
 * @property {(client: LineClient) => Promise<number>} all  how many there are
 * @property {(folder: string, stored: number, open: () => Promise<LineClient>) => Promise<LineClient>} fill
 */

/** @type {Record<'mooring' | 'memory', Keeper>} */
const keepers = {
  mooring: {
    concurrent: true,
    add: (client, n, tag) => client.call('add_note', { content: contentOf(n), tags: [tag] }),
    find: async (client, tag) => JSON.parse(await client.call('get_notes', { tags: [tag] })).notes.length,
    all: async (client) => JSON.parse(await client.call('get_notes', {})).notes.length,
    async fill(folder, stored, open) {
      for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `mooring.db${end}`), { force: true });
      const client = await open();
      for (let n = 0; n < stored; n += 1000) {
        const some = Array.from({ length: Math.min(1000, stored - n) }, (_, i) => n + i);
        await Promise.all(some.map((each) => this.add(client, each, tagOf(each, stored))));
      }
      return client;
    },
  },
  memory: {
    concurrent: false,
    add: (client, n, tag) =>
      client.call('create_entities', {
        entities: [{ name: `added ${n}`, entityType: tag, observations: [contentOf(n)] }],
      }),
    find: async (client, tag) => JSON.parse(await client.call('search_nodes', { query: tag })).entities.length,
    all: async (client) => JSON.parse(await client.call('read_graph', {})).entities.length,
    async fill(folder, stored, open) {
      const lines = Array.from({ length: stored }, (_, n) =>
        JSON.stringify({
          type: 'entity',
          name: `note ${n}`,
          entityType: tagOf(n, stored),
          observations: [contentOf(n)],
        }),
      );
      writeFileSync(join(folder, 'memory.jsonl'), lines.join('\n'));
      return open();
    },
  },
};

/** Adds notes for a while and checks that all of them are there. @param {LineClient} client @param {Keeper} keeper @param {number} ms @param {number} lanes */
async function addFor(client, keeper, ms, lanes) {
  const before = await keeper.all(client);
  const begun = performance.now();
  let added = 0;
  const lane = async () => {
    while (performance.now() - begun < ms) await keeper.add(client, before + added++, 'load');
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const seconds = (performance.now() - begun) / 1000;
  assert.equal(await keeper.all(client), before + added, 'notes were lost');
  return added / seconds;
}

/** @param {LineClient} client @param {Keeper} keeper @param {number} stored */
async function readFull(client, keeper, stored) {
  const allMs = await typical(3, async () => assert.equal(await keeper.all(client), stored, 'notes are missing'));
  const findMs = await typical(10, async (n) => {
    assert.equal(await keeper.find(client, tagOf(n, stored)), perTag, 'notes were not found');
  });
  const addMs = await typical(5, (n) => keeper.add(client, stored + n, 'late'));
  return { allMs, findMs, addMs, rssMb: client.rssMb };
}

/** The median of a few, after one that warms up. @param {number} times @param {(n: number) => Promise<unknown>} work */
async function typical(times, work) {
  /** @type {number[]} */
  const taken = [];
  for (let n = 0; n <= times; n++) {
    const begun = performance.now();
    await work(n);
    if (n > 0) taken.push(performance.now() - begun);
  }
  return quantile(taken, 0.5);
}
