// Fuzzing of the built program over its real transports: no crash, no hang, one answer per id. Half a minute in the
// normal run; MOORING_FUZZ_SECONDS=3600 for longer. A case that fails is kept in corpus/ and tried first from then on.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRandom, makeBytes, makeMessage, pick, type Random } from './generator.ts';
import { makeRequest } from './requests.ts';
import { type Case, openHttp, openStdio, openWebSocket, type Target } from './targets.ts';

const seconds = Number(process.env['MOORING_FUZZ_SECONDS'] ?? 24);
const seed = Number(process.env['MOORING_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
const corpus = join(import.meta.dirname, 'corpus');
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

interface KeptCase {
  readonly transport: Target['name'];
  readonly revision: string;
  readonly why: string;
  readonly frames: readonly string[];
}

const transports: Readonly<
  Record<Target['name'], { readonly share: number; open(revision: string): Promise<Target> }>
> = {
  stdio: { share: 0.4, open: openStdio },
  websocket: { share: 0.3, open: openWebSocket },
  http: { share: 0.3, open: openHttp },
};

function makeCase(random: Random, name: Target['name'], serial: number): Case {
  return Array.from({ length: 1 + Math.floor(random() * 6) }, (_, n) => {
    const id = random() < 0.5 ? `f${serial}-${n}` : serial * 100 + n;
    const bytes = makeBytes(random, makeMessage(random, id));
    return name === 'http' ? makeRequest(random, bytes) : bytes;
  });
}

function keep(transport: Target['name'], revision: string, frames: Case, why: string): string {
  mkdirSync(corpus, { recursive: true });
  const kept: KeptCase = { transport, revision, why, frames: frames.map((frame) => frame.toString('base64')) };
  const text = `${JSON.stringify(kept, undefined, 2)}\n`;
  const path = join(corpus, `${transport}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`);
  writeFileSync(path, text);
  return path;
}

const kept = readdirSync(corpus)
  .filter((each) => each.endsWith('.json'))
  .map((each) => [each, JSON.parse(readFileSync(join(corpus, each), 'utf8')) as KeptCase] as const);

describe.skipIf(kept.length === 0)('cases that failed once', () => {
  test.each(kept)(
    '%s is answered as it should be',
    { timeout: 60_000 },
    async (_name, { transport, revision, frames }) => {
      const target = await transports[transport].open(revision);
      try {
        expect(
          await target.run(
            frames.map((frame) => Buffer.from(frame, 'base64')),
            0,
          ),
        ).toBeUndefined();
      } finally {
        await target.close();
      }
    },
  );
});

test.each(['stdio', 'websocket', 'http'] as const)(
  'whatever comes over %s: no crash, no hang, one answer per id',
  { timeout: (seconds + 120) * 1000 },
  async (name) => {
    const { share, open } = transports[name];
    const random = createRandom(seed);
    const end = Date.now() + seconds * share * 1000;
    let serial = 1;
    while (Date.now() < end) {
      // A fresh process now and then, so that one case can not hide what another has broken.
      const revision = pick(random, revisions);
      const target = await open(revision);
      try {
        for (const until = serial + 400; serial < until && Date.now() < end; serial++) {
          const frames = makeCase(random, name, serial);
          const why = await target.run(frames, serial);
          if (why !== undefined) throw new Error(`${why}\nkept as ${keep(name, revision, frames, why)}; seed ${seed}`);
        }
      } finally {
        await target.close();
      }
    }
    expect(serial).toBeGreaterThan(1);
  },
);
