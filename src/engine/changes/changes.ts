// Notifies sessions and subscriptions of changes: of the lists and resources they follow. It knows who follows what; the
// listener decides whether its caller may be notified.

import { inSlices } from '../../common/slices.ts';
import type { CallerBudget } from '../../protocol/callers/caller-budget.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { ChangeNotification, Codec } from '../../protocol/revisions/index.ts';
import type { Caller } from '../caller.ts';
import type { CatalogKind } from '../ports.ts';
import type { AudienceTest, NotifiedClient } from './audience.ts';

export type ListKind = Exclude<ChangeNotification['kind'], 'resource'>;
export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** The list that clients are notified of when this one has changed. */
export function notifiedList(kind: CatalogKind): ListKind {
  return kind === 'resourceTemplates' || kind === 'skills' ? 'resources' : kind;
}

/** A change that is being announced. Encoded once per revision, however many sessions are notified. */
export class AnnouncedChange {
  readonly change: ChangeNotification;
  /** It is for callers in one of these audiences; undefined: for all that follow it. */
  readonly audiences: AudienceTest[] | undefined;
  /** Of the last message of the bus that it stands for; undefined: it is for all, whatever they have been told before. */
  position: number | undefined;
  readonly #texts = new Map<Codec, string>();

  constructor(change: ChangeNotification, audience: AudienceTest | undefined, position?: number) {
    this.change = change;
    this.audiences = audience && [audience];
    this.position = position;
  }

  isFor({ principal, session }: Caller): boolean {
    return this.audiences === undefined || this.audiences.some((audience) => audience(principal, session));
  }

  text(codec: Codec, subscription?: RequestId): string {
    if (subscription !== undefined) return codec.change(this.change, subscription);
    let text = this.#texts.get(codec);
    if (text === undefined) this.#texts.set(codec, (text = codec.change(this.change)));
    return text;
  }
}

export interface ChangeListener extends NotifiedClient {
  /** Whose budget is charged (see `callerKey`); the same from the first `add` to the last `remove`. */
  readonly caller: string;
  notify(announcement: AnnouncedChange): void;
}

/** Which resources are followed, and by which clients. */
export interface FollowedUris {
  followed(uri: string, client: NotifiedClient): void;
  unfollowed(uri: string, client: NotifiedClient): void;
}

/** A change with more audiences than this is announced again: testing them all would take longer. */
const maxAudiences = 64;

/** Roughly what a resource takes in memory besides its URI: an entry in the index, and a set of listeners. */
const entryBytes = 256;
const bytesOf = (uri: string): number => entryBytes + uri.length * 2;

export class Changes {
  readonly #lists: Readonly<Record<ListKind, Set<ChangeListener>>> = {
    tools: new Set(),
    prompts: new Set(),
    resources: new Set(),
  };
  /** By the URI that they subscribed to. */
  readonly #byUri = new Map<string, Set<ChangeListener>>();
  /** Published and not announced yet; the same change is announced once. */
  readonly #waiting = new Map<string | symbol, AnnouncedChange>();
  #announcing = false;
  readonly #budget: CallerBudget;
  readonly #onError: (error: unknown) => void;
  /** Is notified of the listeners of each resource. */
  uris: FollowedUris | undefined;

  /** `budget` is charged for what listeners follow. `onError` gets what a listener throws; the others are not affected. */
  constructor(budget: CallerBudget, onError: (error: unknown) => void) {
    this.#budget = budget;
    this.#onError = onError;
  }

  /** The resources that listeners follow. */
  get followedUris(): Iterable<string> {
    return this.#byUri.keys();
  }

  /** Everything that was published has been announced. */
  get idle(): boolean {
    return !this.#announcing;
  }

  add(listener: ChangeListener, lists: Iterable<ListKind>, uris: Iterable<string>): void {
    for (const kind of lists) this.#lists[kind].add(listener);
    let bytes = 0;
    for (const uri of uris) {
      let listeners = this.#byUri.get(uri);
      if (listeners === undefined) this.#byUri.set(uri, (listeners = new Set()));
      if (listeners.has(listener)) continue;
      listeners.add(listener);
      this.uris?.followed(uri, listener);
      bytes += bytesOf(uri);
    }
    if (bytes > 0) this.#budget.charge(listener.caller, bytes);
  }

  /** Removes what `add` added; anything else is ignored. */
  remove(listener: ChangeListener, lists: Iterable<ListKind>, uris: Iterable<string>): void {
    for (const kind of lists) this.#lists[kind].delete(listener);
    let bytes = 0;
    for (const uri of uris) {
      const listeners = this.#byUri.get(uri);
      if (listeners?.delete(listener) !== true) continue;
      if (listeners.size === 0) this.#byUri.delete(uri);
      this.uris?.unfollowed(uri, listener);
      bytes += bytesOf(uri);
    }
    if (bytes > 0) this.#budget.release(listener.caller, bytes);
  }

  /**
   * Notifies listeners after this turn, or later if there are many; the same change is announced once meanwhile. `position`: of the
   * message of the bus that it was received with.
   */
  publish(change: ChangeNotification, audience?: AudienceTest, position?: number): void {
    const { kind, uri = '' } = change;
    if (kind === 'resource' ? this.#byUri.size === 0 : this.#lists[kind].size === 0) return;
    const key = `${kind} ${uri}`;
    const earlier = this.#waiting.get(key);
    if (earlier === undefined) this.#waiting.set(key, new AnnouncedChange(change, audience, position));
    else {
      const last = earlier.position === undefined ? undefined : position;
      if (audience === undefined) this.#waiting.set(key, new AnnouncedChange(change, undefined, last));
      else if (earlier.audiences === undefined || earlier.audiences.length < maxAudiences) {
        earlier.audiences?.push(audience);
        earlier.position = last;
      } else {
        this.#waiting.set(Symbol('same change, other audiences'), earlier);
        this.#waiting.set(key, new AnnouncedChange(change, audience, position));
      }
    }
    if (!this.#announcing) this.#start();
  }

  #start(): void {
    this.#announcing = true;
    queueMicrotask(() => this.#announce());
  }

  #announce(): void {
    const rest = inSlices(this.#notifications(), (notify) => {
      try {
        notify?.();
      } catch (error) {
        this.#onError(error);
      }
    });
    const done = (): void => {
      this.#announcing = false;
      // Published after the last slice.
      if (this.#waiting.size > 0) this.#start();
    };
    if (rest === undefined) done();
    else void rest.then(done);
  }

  /** The notifications to send, found one by one: listeners and changes may come and go between two slices. */
  *#notifications(): Generator<(() => void) | undefined> {
    for (const [key, announcement] of this.#waiting) {
      this.#waiting.delete(key);
      const { kind, uri = '' } = announcement.change;
      const listeners = kind === 'resource' ? this.#listenersOf(uri) : this.#lists[kind];
      for (const listener of listeners) yield () => listener.notify(announcement);
      // Finding that there is no listener takes time as well.
      yield undefined;
    }
  }

  /** The listeners of a resource, or of a folder above it. */
  #listenersOf(uri: string): Iterable<ChangeListener> {
    let found = this.#byUri.get(uri);
    let merged: Set<ChangeListener> | undefined;
    for (const folder of foldersOf(uri)) {
      const listeners = this.#byUri.get(folder);
      if (listeners === undefined || listeners === found) continue;
      if (found === undefined) found = listeners;
      else {
        // A listener of both is notified once.
        merged ??= new Set(found);
        for (const each of listeners) merged.add(each);
      }
    }
    return merged ?? found ?? [];
  }
}

/** The URIs of the folders above a resource, each with and without the slash at its end. */
export function* foldersOf(uri: string): Generator<string> {
  for (let slash = uri.indexOf('/'); slash !== -1; slash = uri.indexOf('/', slash + 1)) {
    yield uri.slice(0, slash);
    yield uri.slice(0, slash + 1);
  }
}
