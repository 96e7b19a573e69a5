// Which of the commands and URLs that a server has had are the ones of now. Tools are accepted for each of them, so those of the
// others stay stored after the entry of the server was changed.

import { existsSync } from 'node:fs';

/** When a server was last used with one of its commands or URLs. */
export interface LatestUse {
  readonly identity: string;
  readonly at: string;
  /** The server, and the configuration file that names it; absent for a server of a command line. */
  readonly of?: { readonly slug: string; readonly file: string };
}

/** The part of an acceptance that says when a server was used. */
interface Accepted {
  /** Its identity. */
  readonly server: string;
  readonly slug: string;
  readonly at: string;
}

/** Beyond this number, the uses of files that do not exist any more are forgotten; stops temporary files from filling the pins. */
const maxUses = 1_000;

/** The uses that are known besides the acceptances: the last one of each server, and of each configuration file that has it. */
export class LatestUses {
  /** The configuration of this gateway; none for commands about pins. */
  readonly #files: readonly string[];
  readonly #all = new Map<string, LatestUse>();

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** By keys, as they are stored. */
  get stored(): Readonly<Record<string, LatestUse>> {
    const all = [...this.#all];
    return Object.fromEntries(all.length > maxUses ? all.filter(([, { of }]) => of && existsSync(of.file)) : all);
  }

  /** Adds what is stored, which other processes change. */
  merge(stored: Readonly<Record<string, LatestUse>>): void {
    for (const [key, use] of Object.entries(stored)) {
      if (use.at > (this.#all.get(key)?.at ?? '')) this.#all.set(key, use);
    }
  }

  /** Records that a server has this command or URL now. Returns whether that was not known. */
  note(
    { slug, identity }: { readonly slug: string; readonly identity: string },
    accepted: readonly Accepted[],
  ): boolean {
    const latest = this.#latest(slug, accepted);
    const isKnown = this.#files.every((file) => this.#all.get(keyOf(slug, file))?.identity === identity);
    if (isKnown && (latest === undefined || latest.identity === identity)) return false;
    const use = { identity, at: new Date().toISOString() };
    if (this.#files.length === 0) this.#all.set(slug, use);
    for (const file of this.#files) this.#all.set(keyOf(slug, file), { ...use, of: { slug, file } });
    return true;
  }

  /**
   * What a server has now: what was used last, and what it has in other configurations that exist, whether their gateways run or
   * not. Empty if nothing is known.
   */
  current(slug: string, accepted: readonly Accepted[]): ReadonlySet<string> {
    const latest = this.#latest(slug, accepted);
    const current = new Set(latest === undefined ? [] : [latest.identity]);
    for (const { identity, of } of this.#all.values()) {
      if (of?.slug === slug && !current.has(identity) && existsSync(of.file)) current.add(identity);
    }
    return current;
  }

  #latest(slug: string, accepted: readonly Accepted[]): Pick<LatestUse, 'identity' | 'at'> | undefined {
    let latest: Pick<LatestUse, 'identity' | 'at'> | undefined;
    const take = (each: Pick<LatestUse, 'identity' | 'at'>): void => {
      if (latest === undefined || each.at > latest.at) latest = each;
    };
    for (const [key, use] of this.#all) if ((use.of?.slug ?? key) === slug) take(use);
    for (const { slug: own, server, at } of accepted) if (own === slug) take({ identity: server, at });
    return latest;
  }
}

const keyOf = (slug: string, file: string): string => JSON.stringify([slug, file]);
