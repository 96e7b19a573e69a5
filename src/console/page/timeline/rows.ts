// The messages as rows: a request and its response are one row, and rows of one group are under one row that opens. Keeps a
// limited number of messages and counts what it removes.

import type { FeedBatch, FeedEntry, PeerInfo } from '../../api.ts';
import type { Filter, FilterSubject } from './filter.ts';

/** Messages and characters that the page keeps: a busy server must not fill the memory of the browser. */
const maxEntries = 20_000;
const maxCharacters = 64 * 1024 * 1024;
/** Removed together: enough to keep the cost per message small, and few enough that the page does not freeze. */
const removedAtOnce = 250;

export interface Row {
  readonly key: number;
  /** The request, or the only message. */
  readonly entry: FeedEntry;
  response?: FeedEntry;
  /** The rows of the group that this one stands for; itself is the first. */
  members?: Row[];
  /** The row of its group. */
  head?: Row;
  /** As it is shown: made once, since the list is made again with each frame. */
  shown?: ShownRow;
  /** The filter that was last applied, and its result. */
  checked?: Filter;
  isMatch?: boolean;
}

/** A row in the list as it is shown. */
export interface ShownRow {
  readonly row: Row;
  /** 1: below the row of its group. */
  readonly level: 0 | 1;
}

/** The rows of the list. */
export interface ShownRows {
  readonly rows: readonly ShownRow[];
  /** False while older rows have not been searched yet. */
  readonly isComplete: boolean;
}

const always = (): boolean => true;

export class Rows {
  /** Top-level rows, in the order of their first message. */
  #rows: Row[] = [];
  readonly #byEntry = new Map<number, Row>();
  readonly #groups = new Map<string, Row>();
  readonly peers = new Map<number, PeerInfo>();
  #characters = 0;

  /** Number of the last message. */
  last = 0;
  received = 0;
  errors = 0;
  /** Messages that the server did not send to this page, because it was too slow or they were too old. */
  dropped = 0;
  /** Messages that this page removed to limit its memory. */
  removed = 0;

  get kept(): number {
    return this.#byEntry.size;
  }

  add(batch: FeedBatch): void {
    for (const peer of batch.peers) this.peers.set(peer.number, peer);
    this.dropped += batch.dropped;
    for (const entry of batch.entries) this.#addEntry(entry);
    while (this.#rows.length > 0 && (this.#byEntry.size > maxEntries || this.#characters > maxCharacters))
      this.#removeOldest();
  }

  #addEntry(entry: FeedEntry): void {
    // A page that reconnects may get a message twice.
    if (entry.number <= this.last) return;
    this.last = entry.number;
    this.received += 1;
    this.#characters += entry.text?.length ?? 0;
    if (isErrorEntry(entry)) this.errors += 1;
    const request = entry.requestEntry === undefined ? undefined : this.#byEntry.get(entry.requestEntry);
    if (request !== undefined && request.response === undefined && request.entry.number === entry.requestEntry) {
      request.response = entry;
      request.checked = undefined;
      this.#byEntry.set(entry.number, request);
      return;
    }
    const row: Row = { key: entry.number, entry };
    this.#byEntry.set(entry.number, row);
    const head = entry.group === undefined ? undefined : this.#groups.get(entry.group);
    if (head !== undefined) {
      head.members ??= [head];
      head.members.push(row);
      row.head = head;
    } else {
      this.#rows.push(row);
      if (entry.group !== undefined) this.#groups.set(entry.group, row);
    }
  }

  #removeOldest(): void {
    const gone = this.#rows.splice(0, Math.min(removedAtOnce, Math.ceil(this.#rows.length / 2)));
    for (const top of gone) {
      for (const row of top.members ?? [top]) {
        for (const entry of [row.entry, row.response]) {
          if (entry === undefined) continue;
          this.#byEntry.delete(entry.number);
          this.#characters -= entry.text?.length ?? 0;
          this.removed += 1;
        }
      }
      if (top.entry.group !== undefined) this.#groups.delete(top.entry.group);
    }
  }

  clear(): void {
    this.#rows = [];
    this.#byEntry.clear();
    this.#groups.clear();
    this.#characters = 0;
    this.removed = 0;
    this.dropped = 0;
    this.received = 0;
    this.errors = 0;
  }

  find(entry: number): Row | undefined {
    return this.#byEntry.get(entry);
  }

  /**
   * What the list shows. A group is shown if one of its rows matches. A new filter is tried on the newest rows first; those
   * that are left when `hasTime` returns false are tried the next time, so that searching long texts does not block the page.
   */
  shown(filter: Filter, isOpen: (row: Row) => boolean, hasTime: () => boolean = always): ShownRows {
    const shown: ShownRow[] = [];
    const from = filter.isActive ? this.#search(filter, hasTime) : 0;
    for (let index = from; index < this.#rows.length; index++) {
      const row = this.#rows[index] as Row;
      if (filter.isActive && !(row.members ?? [row]).some((each) => each.isMatch === true)) continue;
      shown.push((row.shown ??= { row, level: 0 }));
      if (row.members !== undefined && isOpen(row)) {
        for (const member of row.members.slice(1)) shown.push((member.shown ??= { row: member, level: 1 }));
      }
    }
    return { rows: shown, isComplete: from === 0 };
  }

  /** Tries the filter on rows that it was not tried on. Returns the index of the first row from which on all were tried. */
  #search(filter: Filter, hasTime: () => boolean): number {
    for (let index = this.#rows.length - 1; index >= 0; index--) {
      const row = this.#rows[index] as Row;
      let isTried = false;
      for (const each of row.members ?? [row]) {
        if (each.checked === filter) continue;
        each.checked = filter;
        each.isMatch = filter.matches(this.subject(each));
        isTried = true;
      }
      if (isTried && !hasTime()) return index;
    }
    return 0;
  }

  /** The newest rows with an error. */
  newestErrors(count: number): Row[] {
    const found: Row[] = [];
    for (let index = this.#rows.length - 1; index >= 0 && found.length < count; index--) {
      const row = this.#rows[index] as Row;
      if ((row.members ?? [row]).some(isErrorRow)) found.push(row);
    }
    return found;
  }

  /** What a filter looks at. */
  subject(row: Row): FilterSubject {
    const { entry, response } = row;
    const peer = this.peers.get(entry.peer);
    const names = peer && [peer.client, peer.transport, peer.revision, peer.principal, peer.session, peer.address];
    return {
      method: entry.method,
      name: entry.name,
      peer: [String(entry.peer), ...(names ?? []).filter((name) => name !== undefined)],
      side: entry.side,
      kind: entry.kind,
      direction: entry.direction,
      isError: isErrorRow(row),
      code: response?.code ?? entry.code,
      durationMs: response?.durationMs ?? entry.durationMs,
      texts: [entry.text, response?.text],
      reason: entry.reason ?? response?.reason,
    };
  }
}

const isErrorEntry = ({ kind, outcome, code }: FeedEntry): boolean =>
  kind === 'invalid' || (outcome === undefined ? code !== undefined : !fine.has(outcome));

/** Outcomes that are not errors. */
const fine = new Set(['ok', 'cancelled', 'input-required', 'input_required', 'unsupported', 'task', 'accepted']);

export const isErrorRow = (row: Row): boolean =>
  isErrorEntry(row.entry) || (row.response !== undefined && isErrorEntry(row.response));
