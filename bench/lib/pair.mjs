// Two servers of one process that take turns: what disturbs one turn seldom disturbs the next one as well.
import { HttpClient } from './http-client.mjs';

/** @typedef {Awaited<ReturnType<HttpClient['load']>>} Load */

export class Pair {
  #order;
  /** @type {(string | undefined)[][]} */
  #sessions = [];

  /** @param {HttpClient} client @param {readonly (0 | 1)[]} order */
  constructor(client, order) {
    this.client = client;
    this.#order = order;
  }

  /**
   * Starts both. Of two equal servers the one that is created and called first is faster by about half a percent, so each
   * is the first in every other round.
   * @param {import('../contestants.mjs').Contestant} contestant @param {import('../contestants.mjs').Era} era @param {number} round
   */
  static async open(contestant, era, round) {
    const isPlainFirst = round % 2 === 1;
    const env = { ...contestant.env, BENCH_PLAIN_FIRST: String(isPlainFirst) };
    const client = await HttpClient.open({ ...contestant, env }, era);
    const pair = new Pair(client, isPlainFirst ? [0, 1] : [1, 0]);
    try {
      for (const which of pair.#order) {
        client.turnTo(which);
        const sessions = await client.openSessions(64);
        await client.checkValidation(sessions[0]);
        pair.#sessions[which] = sessions;
      }
      return pair;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  /** Not by a signal: the process has files and programs to clean up. */
  close() {
    return this.client.end();
  }

  /**
   * The figures of the plain server and of the other one, turn by turn. The second of a turn finds the machine warmer, so
   * each is the second in every other turn.
   * @param {'calculate' | 'echo'} call
   * @param {{ connections: number, ms: number, turns: number, perSec?: number }} plan  `ms`: of each in each turn
   */
  async load(call, { turns, ...plan }) {
    /** @type {[Load, Load][]} */
    const taken = [];
    for (let turn = 0; turn < turns; turn++) {
      /** @type {Load[]} */
      const found = [];
      for (const which of turn % 2 === 0 ? this.#order : this.#order.toReversed()) {
        this.client.turnTo(which);
        const sessions = /** @type {(string | undefined)[]} */ (this.#sessions[which]);
        found[which] = await this.client.load(call, { ...plan, sessions });
      }
      taken.push(/** @type {[Load, Load]} */ (found));
    }
    return taken;
  }
}
