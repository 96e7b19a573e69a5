// Tells sessions and subscriptions of changes: of the lists they follow and the resources they watch. Knows who watches
// what; whether a listener may hear of a change is decided by the listener.

import type { CallerBudget } from '../protocol/caller-budget.ts';
import type { Principal } from '../protocol/exchange.ts';
import type { RequestId } from '../protocol/model.ts';
import type { ChangeNotification, Codec } from '../protocol/revisions/index.ts';
import { inSlices } from '../protocol/slices.ts';

/** Who may hear of a change. */
export type ChangeAudience = (principal: Principal | undefined) => boolean;

export type ListKind = Exclude<ChangeNotification['kind'], 'resource'>;
export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** A change on its way to those who want to hear of it. Encoded once per revision, however many sessions hear of it. */
export class AnnouncedChange {
  readonly change: ChangeNotification;
  /** It is for whoever is in one of these; undefined: for everybody who asked. */
  readonly audiences: ChangeAudience[] | undefined;
  readonly #texts = new Map<Codec, string>();

  constructor(change: ChangeNotification, audience: ChangeAudience | undefined) {
    this.change = change;
    this.audiences = audience && [audience];
  }

  isFor(principal: Principal | undefined): boolean {
    return this.audiences === undefined || this.audiences.some((audience) => audience(principal));
  }

  text(revision: Codec, subscription?: RequestId): string {
    if (subscription !== undefined) return revision.change(this.change, subscription);
    let text = this.#texts.get(revision);
    if (text === undefined) this.#texts.set(revision, (text = revision.change(this.change)));
    return text;
  }
}

export interface ChangeListener {
  /** Who pays for what it watches (see `callerKey`); the same from the first `add` to the last `remove`. */
  readonly caller: string;
  notify(announcement: AnnouncedChange): void;
}

/** The same change announced for more audiences than this is told again: testing them all would take longer. */
const maxAudiences = 64;

/** What one watched resource takes in memory besides its URI, roughly: its place in the index, and a set of listeners. */
const entryBytes = 256;
const bytesOf = (uri: string): number => entryBytes + uri.length * 2;

export class Changes {
  readonly #lists: Readonly<Record<ListKind, Set<ChangeListener>>> = {
    tools: new Set(),
    prompts: new Set(),
    resources: new Set(),
  };
  /** By the URI they asked for. A change is looked up here; nobody is asked who does not watch it. */
  readonly #watchers = new Map<string, Set<ChangeListener>>();
  /** Announced and not told yet; the same change is told once. */
  readonly #waiting = new Map<string | symbol, AnnouncedChange>();
  #telling = false;
  readonly #kept: CallerBudget;
  readonly #failed: (error: unknown) => void;

  /** `kept` is charged for what listeners watch. `failed` is told of listeners that threw; the others are not affected. */
  constructor(kept: CallerBudget, failed: (error: unknown) => void) {
    this.#kept = kept;
    this.#failed = failed;
  }

  add(listener: ChangeListener, lists: Iterable<ListKind>, uris: Iterable<string>): void {
    for (const kind of lists) this.#lists[kind].add(listener);
    let bytes = 0;
    for (const uri of uris) {
      let watchers = this.#watchers.get(uri);
      if (watchers === undefined) this.#watchers.set(uri, (watchers = new Set()));
      if (watchers.has(listener)) continue;
      watchers.add(listener);
      bytes += bytesOf(uri);
    }
    if (bytes > 0) this.#kept.charge(listener.caller, bytes);
  }

  /** Takes back what `add` was given; what it was not given is ignored. */
  remove(listener: ChangeListener, lists: Iterable<ListKind>, uris: Iterable<string>): void {
    for (const kind of lists) this.#lists[kind].delete(listener);
    let bytes = 0;
    for (const uri of uris) {
      const watchers = this.#watchers.get(uri);
      if (watchers?.delete(listener) !== true) continue;
      if (watchers.size === 0) this.#watchers.delete(uri);
      bytes += bytesOf(uri);
    }
    if (bytes > 0) this.#kept.release(listener.caller, bytes);
  }

  /** Tells listeners at the end of this turn, or later where there is much to tell; the same change meanwhile is told once. */
  publish(change: ChangeNotification, audience?: ChangeAudience): void {
    const { kind, uri = '' } = change;
    if (kind === 'resource' ? this.#watchers.size === 0 : this.#lists[kind].size === 0) return;
    const key = `${kind} ${uri}`;
    const earlier = this.#waiting.get(key);
    if (earlier === undefined) this.#waiting.set(key, new AnnouncedChange(change, audience));
    else if (audience === undefined) this.#waiting.set(key, new AnnouncedChange(change, undefined));
    else if (earlier.audiences !== undefined) {
      if (earlier.audiences.length < maxAudiences) earlier.audiences.push(audience);
      else {
        this.#waiting.set(Symbol('same change, other audiences'), earlier);
        this.#waiting.set(key, new AnnouncedChange(change, audience));
      }
    }
    if (!this.#telling) this.#start();
  }

  #start(): void {
    this.#telling = true;
    queueMicrotask(() => this.#tell());
  }

  #tell(): void {
    const rest = inSlices(this.#notices(), (tell) => {
      try {
        tell?.();
      } catch (error) {
        this.#failed(error);
      }
    });
    const done = (): void => {
      this.#telling = false;
      // Announced after the last slice.
      if (this.#waiting.size > 0) this.#start();
    };
    if (rest === undefined) done();
    else void rest.then(done);
  }

  /** What there is to do, found as it is asked for: listeners and changes come and go between two slices. */
  *#notices(): Generator<(() => void) | undefined> {
    for (const [key, announcement] of this.#waiting) {
      this.#waiting.delete(key);
      const { kind, uri = '' } = announcement.change;
      const listeners = kind === 'resource' ? this.#watchersOf(uri) : this.#lists[kind];
      for (const listener of listeners) yield () => listener.notify(announcement);
      // Finding that nobody watches takes time as well.
      yield undefined;
    }
  }

  /** Those who watch a resource, or a folder above it. */
  #watchersOf(uri: string): Iterable<ChangeListener> {
    let found = this.#watchers.get(uri);
    let merged: Set<ChangeListener> | undefined;
    for (const folder of foldersOf(uri)) {
      const watchers = this.#watchers.get(folder);
      if (watchers === undefined || watchers === found) continue;
      if (found === undefined) found = watchers;
      else {
        // Who watches both is told once.
        merged ??= new Set(found);
        for (const each of watchers) merged.add(each);
      }
    }
    return merged ?? found ?? [];
  }
}

/** The URIs of the folders above a resource, each with and without the slash at its end. */
function* foldersOf(uri: string): Generator<string> {
  for (let slash = uri.indexOf('/'); slash !== -1; slash = uri.indexOf('/', slash + 1)) {
    yield uri.slice(0, slash);
    yield uri.slice(0, slash + 1);
  }
}
