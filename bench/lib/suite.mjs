// What a suite is, and how its rounds run: every contestant once per round, so that a drift of the machine hits all alike.
import { field } from '../contestants.mjs';
import { revisions } from './wire.mjs';

/** @typedef {import('../contestants.mjs').Contestant} Contestant */
/** @typedef {import('../contestants.mjs').Era} Era */
/** @typedef {import('./stats.mjs').Row} Row */

/**
 * @typedef {object} Effort
 * @property {number} ms        how long one figure is measured
 * @property {number} warmMs    load before it, for the compiler to settle
 * @property {number} sessions  idle sessions to open
 * @property {number} streams   streams to hold open
 * @property {number} connections  how often to connect and close
 * @property {number} notes     notes to store before reading
 */

/** @template T @typedef {(contestant: Contestant, era: Era, effort: Effort, round: number) => Promise<T>} Measure */

/**
 * @typedef {object} Suite
 * @property {string} id
 * @property {string} title
 * @property {string} note
 * @property {keyof typeof import('../contestants.mjs').contestants} transport
 * @property {string} [who]  what its contestants are, where they are not servers
 * @property {number} rounds
 * @property {import('./table.mjs').Column[]} columns
 * @property {(contestant: Contestant, era: Era) => boolean} [admits]
 * @property {Measure<{ revision: string, figures: Record<string, number | number[]> }>} measure
 */

/** @type {Record<'full' | 'quick', Effort>} */
export const efforts = {
  full: { ms: 1000, warmMs: 1500, sessions: 10_000, streams: 1000, connections: 1000, notes: 100_000 },
  quick: { ms: 250, warmMs: 500, sessions: 1000, streams: 200, connections: 100, notes: 10_000 },
};

/**
 * Takes one figure in slices, each a sample of its own: on a shared machine the chance that a short slice stays
 * undisturbed is far greater than that a long one does.
 * @template T @param {number} ms  in all @param {(ms: number) => Promise<T>} measure
 */
export async function inSlices(ms, measure) {
  const taken = [];
  for (let n = 0; n < slices; n++) taken.push(await measure(ms / slices));
  return taken;
}

const slices = 5;

/**
 * @param {Suite} suite
 * @param {{ rounds: number, effort: Effort, only?: string[], report: (text: string) => void }} options
 * @returns {Promise<{ rows: Row[], absent: { name: string, why?: string }[] }>}
 */
export async function runSuite(suite, { rounds, effort, only, report }) {
  const { present, absent } = field(suite.transport, only);
  const entries = /** @type {Era[]} */ (['handshake', 'stateless']).flatMap((era) =>
    present
      .filter((contestant) => contestant.eras.includes(era) && (suite.admits?.(contestant, era) ?? true))
      .map((contestant) => ({ contestant, era, row: newRow(contestant, era) })),
  );
  for (let round = 1; round <= rounds; round++) {
    for (const { contestant, era, row } of entries) {
      report(`${suite.id}, round ${round} of ${rounds}: ${contestant.name}, ${revisions[era]}`);
      const { revision, figures } = await suite.measure(contestant, era, effort, round).catch((cause) => {
        throw new Error(`${suite.id}: ${contestant.name}, ${revisions[era]}: ${cause.message}`, { cause });
      });
      row.revision = revision;
      for (const [metric, value] of Object.entries(figures)) (row.samples[metric] ??= []).push(...[value].flat());
    }
  }
  return { rows: entries.map(({ row }) => row), absent };
}

/** @param {Contestant} contestant @param {Era} era @returns {Row} */
const newRow = ({ id, name }, era) => ({ id, name, era, revision: revisions[era], samples: {} });
