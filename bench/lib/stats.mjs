// Samples of several rounds, and the one number of them that a column shows.

/** @typedef {import('../contestants.mjs').Era} Era */

/**
 * One contestant in one era, with the samples of every round.
 * @typedef {object} Row
 * @property {string} id
 * @property {string} name
 * @property {Era} era
 * @property {string} revision
 * @property {Record<string, number[]>} samples
 */

/** @param {ArrayLike<number>} values @param {number} q */
export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/** Noise only ever makes a round worse, so the best round is the truest; `median` where a spread is the point. */
const picks = {
  min: (/** @type {number[]} */ values) => Math.min(...values),
  max: (/** @type {number[]} */ values) => Math.max(...values),
  median: (/** @type {number[]} */ values) => quantile(values, 0.5),
};

/** @typedef {keyof typeof picks} Pick */

/** @param {Row | undefined} row @param {string} metric @param {Pick} pick @returns {number | undefined} */
export const figure = (row, metric, pick) =>
  row?.samples[metric]?.length ? picks[pick](row.samples[metric]) : undefined;

/**
 * Whether a slice had about the rate it was to have. A slower one shows the limit of the server, not what a call costs at that rate.
 * @param {{ perSec: number }} slice @param {number} rate
 */
export const reachesRate = ({ perSec }, rate) => perSec >= rate * 0.9;

/**
 * The row of a server in an era; a server that lacks the era is represented by the one it has.
 * @param {Row[]} rows @param {string} id @param {Era} [era]
 */
export const find = (rows, id, era) =>
  rows.find((row) => row.id === id && row.era === era) ?? rows.find((row) => row.id === id);
