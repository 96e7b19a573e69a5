// Fuzzing of the built program over its real transports: no crash, no hang, one response per id. Some seconds with one seed in
// the normal run, two minutes with a random one with MOORING_TEST_FULL=1; MOORING_FUZZ_SECONDS=3600 for longer,
// MOORING_FUZZ_SECONDS=endless until it is stopped. MOORING_FUZZ_SEED repeats a run. A case that fails is stored in corpus/ and
// tried first from then on.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { makeFrame, openFrames } from './frames.ts';
import { createRandom, makeBytes, makeMessage, pick, type Random } from './generator.ts';
import { type ProfileName, profileNames, revisionsOf } from './profiles.ts';
import { makeRequest } from './requests.ts';
import { openEvents, openReply, openSession, openSse } from './sessions.ts';
import { type Case, openHttp, openStdio, openWebSocket, type Target, type TargetName } from './targets.ts';

const asked = process.env['MOORING_FUZZ_SECONDS'] ?? (isFullRun ? '120' : '6');
const isEndless = asked === 'endless';
/** Endless is round after round of a minute, so that every transport has its turn. */
const seconds = isEndless ? 60 : Number(asked);
if (!(seconds > 0)) throw new RangeError(`MOORING_FUZZ_SECONDS is a number or "endless", not ${asked}`);
const seed = Number(process.env['MOORING_FUZZ_SEED'] ?? (isFullRun ? Date.now() % 1_000_000_000 : 20261116));
const corpus = join(import.meta.dirname, 'corpus');

interface KeptCase {
  readonly transport: TargetName;
  /** Absent in cases kept before there were several. */
  readonly profile?: ProfileName;
  readonly revision: string;
  readonly why: string;
  readonly frames: readonly string[];
}

interface Transport {
  /** Part of the time. */
  readonly share: number;
  /** Where only some profiles have it. */
  readonly profiles?: readonly ProfileName[];
  open(revision: string, profile: ProfileName): Promise<Target>;
}

const transports: Readonly<Record<TargetName, Transport>> = {
  stdio: { share: 0.2, open: openStdio },
  websocket: { share: 0.1, open: openWebSocket },
  frames: { share: 0.1, open: openFrames },
  http: { share: 0.2, open: openHttp },
  session: { share: 0.15, open: openSession },
  sse: { share: 0.15, open: openSse },
  reply: { share: 0.05, profiles: ['system'], open: openReply },
  events: { share: 0.05, profiles: ['reference'], open: openEvents },
};

function makeCase(random: Random, name: TargetName, serial: number): Case {
  return Array.from({ length: 1 + Math.floor(random() * 6) }, (_, n) => {
    const id = random() < 0.5 ? `f${serial}-${n}` : serial * 100 + n;
    const bytes = makeBytes(random, makeMessage(random, id));
    if (name === 'frames') return makeFrame(random, bytes);
    return name === 'http' ? makeRequest(random, bytes) : bytes;
  });
}

function keep({ frames, ...where }: Omit<KeptCase, 'frames'> & { readonly frames: Case }): string {
  mkdirSync(corpus, { recursive: true });
  const kept: KeptCase = { ...where, frames: frames.map((frame) => frame.toString('base64')) };
  const text = `${JSON.stringify(kept, undefined, 2)}\n`;
  const path = join(corpus, `${where.transport}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`);
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
    async (_name, { transport, profile = 'everything', revision, frames }) => {
      const target = await transports[transport].open(revision, profile);
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

/** Sends cases over one transport for its share of the time; the result is how many. */
async function torment(name: TargetName, random: Random): Promise<number> {
  const { share, profiles = profileNames, open } = transports[name];
  let end: number | undefined;
  let serial = 1;
  while (end === undefined || Date.now() < end) {
    // A new process now and then, so that one case cannot hide what another has broken.
    // Half of the time the profile with most to it, the others by chance.
    const profile = profiles.includes('everything') && random() < 0.5 ? 'everything' : pick(random, profiles);
    const revision = pick(random, revisionsOf(profile));
    const target = await open(revision, profile);
    // Counted from here: on a busy machine the first process may start for longer than the whole share.
    end ??= Date.now() + seconds * share * 1000;
    try {
      for (const until = serial + 400; serial < until && Date.now() < end; serial++) {
        const frames = makeCase(random, name, serial);
        const why = await target.run(frames, serial);
        if (why === undefined) continue;
        const kept = keep({ transport: name, profile, revision, why, frames });
        throw new Error(`${why}\n${profile}, kept as ${kept}; seed ${seed}`);
      }
    } finally {
      await target.close();
    }
  }
  return serial - 1;
}

const names = Object.keys(transports) as TargetName[];

test.each(names)(
  'any input over %s: no crash, no hang, one response per id',
  { timeout: (seconds + 120) * 1000 },
  async (name) => expect(await torment(name, createRandom(seed))).toBeGreaterThan(0),
);

if (isEndless) {
  test('repeated until it is stopped', { timeout: 2 ** 31 - 1 }, async () => {
    for (let round = 1; ; round++) {
      const random = createRandom(seed + round);
      for (const name of names) console.info(`round ${round}, ${name}: ${await torment(name, random)} cases`);
    }
  });
}
