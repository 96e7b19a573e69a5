// Changes that all processes on a bus announce: each publishes its own, and every process announces them to its clients in
// the same order. The recent ones are remembered, for sessions that had no stream when they happened.

import { monotonicMs } from '../../common/clock.ts';
import type { Logger } from '../../common/logger.ts';
import type { Principal } from '../../protocol/exchange.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Json } from '../../protocol/model.ts';
import type { Bus } from '../../protocol/ports.ts';
import type { ChangeNotification } from '../../protocol/revisions/index.ts';
import type { Caller } from '../caller.ts';
import type { Session } from '../channels/session.ts';
import { type AudienceTest, testOfKeys } from './audience.ts';
import { AnnouncedChange, type Changes, foldersOf, type ListKind, listKinds } from './changes.ts';

/**
 * Which processes on a bus notice a change and announce it: this one, or each of them, as with a file that all of them
 * watch. In both cases the clients of all processes are notified, once.
 */
export type ChangeSource = 'this-process' | 'each-process';

/** The server, as far as shared changes need it. */
interface AnnouncingServer {
  readonly identity: { readonly name: string };
  readonly changes: Changes;
  offers(path: string): boolean;
  maySee(announcement: AnnouncedChange, client: Caller): boolean;
  /** Discards what is cached of the list. */
  forgetList(kind: ListKind): void;
  readonly logger: Logger | undefined;
  /** Whether a server that is mounted here, named by its path, lets a caller read a resource. */
  mountAllows(path: readonly string[], uri: string): AudienceTest;
}

interface RecentChange {
  readonly position: number;
  readonly announced: AnnouncedChange;
}

/** Stops a server that announces many different resources from filling the memory: about 3 MB. */
const maxRecent = 10_000;

/** After a gap all clients are told to read everything again: over this time, so that they do not all do so at once. */
const spreadMs = 5_000;

/**
 * A change that is announced more often than this within the time is then published once, at its end; stops one that is announced
 * all the time from pushing other messages out of the bus.
 */
const maxRepeated = 10;
const repeatedMs = 50;

/** Reads again what another process has changed. */
export type Refresh = () => void | Promise<void>;

/** Clients are notified after this time at the latest: a database that does not respond must not hold all changes back. */
const refreshMs = 5_000;

/** How much later than the first process another one may notice the same change. */
const noticeMs = 2_000;

export class SharedChanges {
  readonly bus: Bus;
  readonly #server: AnnouncingServer;
  readonly #topic: string;
  /** Published in this turn of the event loop; the same change is published once. */
  readonly #waiting = new Map<string, Json>();
  /** How often each change was published lately, and those that wait until they are published again. */
  readonly #counts = new Map<string, number>();
  readonly #delayed = new Map<string, Json>();
  /** By position, oldest first. */
  #recent: RecentChange[] = [];
  /** Changes at this position and before are not remembered. */
  #from: number;
  /** Changes that each process notices: the one that announced it first, and when it did so last. */
  readonly #noticed = new Map<string, { readonly process: string; readonly atMs: number }>();
  /** Everything up to here has been announced. */
  #announced: number;
  #received: number;
  /** After a gap: the clients of this process have been notified up to here, until they are told to read everything. */
  #gapFrom: number | undefined;
  readonly #refreshes = new Map<ListKind, Refresh[]>();
  /** Changes that follow wait for this, so that their order stays. */
  #refreshing: Promise<void> | undefined;
  /** The lists that are being read again. */
  #refreshed: readonly ListKind[] = [];

  constructor(server: AnnouncingServer, bus: Bus) {
    this.#server = server;
    this.bus = bus;
    this.#topic = `changes ${server.identity.name}`;
    this.#announced = this.#received = bus.position;
    this.#from = this.#readPast();
    bus.listen(this.#topic, (data, from, position) => this.#receive(data, from, position));
    bus.onGap(() => this.#gap());
  }

  /** Remembers changes from before this server was created. Returns the position after which all of them are known. */
  #readPast(): number {
    const past = this.bus.past?.(this.#topic);
    if (past === undefined) return this.bus.position;
    for (const { data, from, position } of past.messages) {
      const change = parse(data);
      if (change === undefined) continue;
      if (change.source === 'each-process' && this.#isRepeated(JSON.stringify(data), from)) continue;
      this.#remember(change, position);
    }
    return past.from;
  }

  #remember({ kind, uri, audience, mount }: ReceivedChange, position: number): AnnouncedChange {
    const change: ChangeNotification = uri === undefined ? { kind } : { kind, uri };
    // Servers may be mounted after the change was published, so they are looked up when it is needed.
    const allowed = mount && lazily(() => this.#server.mountAllows(mount, uri ?? ''));
    const test = testOf(audience && testOfKeys(audience), allowed);
    const announced = new AnnouncedChange(change, test);
    this.#recent.push({ position, announced });
    return announced;
  }

  /** `audience`: keys of callers. `mount`: names of the mounted servers that the resource belongs to, outermost first. */
  publish(
    change: ChangeNotification,
    audience: readonly string[] | undefined,
    mount: readonly string[],
    source: ChangeSource,
  ): void {
    const data: Json = {
      kind: change.kind,
      ...(change.uri === undefined ? {} : { uri: change.uri }),
      ...(audience === undefined ? {} : { audience }),
      ...(mount.length === 0 ? {} : { mount }),
      ...(source === 'this-process' ? {} : { source }),
    };
    if (this.#waiting.size === 0) queueMicrotask(() => this.#flush());
    this.#waiting.set(JSON.stringify(data), data);
  }

  #flush(): void {
    if (this.#counts.size === 0) {
      const timer = setTimeout(() => this.#flushDelayed(), repeatedMs);
      (timer as { unref?: () => void }).unref?.();
    }
    for (const [key, data] of this.#waiting) {
      const count = (this.#counts.get(key) ?? 0) + 1;
      this.#counts.set(key, count);
      if (count > maxRepeated) this.#delayed.set(key, data);
      else void this.bus.publish(this.#topic, data);
    }
    this.#waiting.clear();
  }

  #flushDelayed(): void {
    this.#counts.clear();
    if (this.#delayed.size === 0) return;
    for (const [key, data] of this.#delayed) this.#waiting.set(key, data);
    this.#delayed.clear();
    this.#flush();
  }

  #receive(data: Json, from: string, position: number): void {
    const received = parse(data);
    if (received === undefined) return;
    const { kind, source } = received;
    if (source === 'each-process' && this.#isRepeated(JSON.stringify(data), from)) return;
    const isRefreshed = kind !== 'resource' && from !== this.bus.process && this.#refreshes.has(kind);
    if (isRefreshed || this.#refreshing !== undefined) {
      this.#afterRefresh(isRefreshed ? [kind] : [], () => this.#announce(received, position));
    } else this.#announce(received, position);
  }

  #announce(received: ReceivedChange, position: number): void {
    const { kind } = received;
    if (this.#server.changes.idle) this.#announced = this.#received;
    this.#received = position;
    if (kind !== 'resource') this.#server.forgetList(kind);
    const { change, audiences } = this.#remember(received, position);
    if (this.#recent.length > maxRecent * 2) this.#forgetOldest();
    this.#server.changes.publish(change, audiences?.[0], position);
  }

  /** Calls `refresh` when another process has announced a change of a list, before clients are notified of it. */
  onRemoteChange(kind: ListKind, refresh: Refresh): void {
    this.#refreshes.set(kind, [...(this.#refreshes.get(kind) ?? []), refresh]);
  }

  #afterRefresh(kinds: readonly ListKind[], then: () => void): void {
    const all = kinds.flatMap((kind) => this.#refreshes.get(kind) ?? []);
    const done = (this.#refreshing ?? Promise.resolve())
      .then(() => {
        this.#refreshed = kinds;
        return Promise.all(all.map((refresh) => this.#refresh(refresh)));
      })
      .then(() => {
        this.#refreshed = [];
        if (this.#refreshing === done) this.#refreshing = undefined;
        then();
      });
    this.#refreshing = done;
  }

  /** Whether a list is being read again, after which clients are notified of it in any case. */
  isRefreshing(kind: ListKind): boolean {
    return this.#refreshed.includes(kind);
  }

  async #refresh(refresh: Refresh): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`It did not end within ${refreshMs} ms`)), refreshMs);
    });
    try {
      await Promise.race([refresh(), late]);
    } catch (error) {
      this.#server.logger?.error('a list that another process has changed could not be read again', { error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether another process has announced the same change: the one that was first announces all that follow soon. */
  #isRepeated(change: string, from: string): boolean {
    const now = monotonicMs();
    const first = this.#noticed.get(change);
    if (first !== undefined && first.process !== from && now - first.atMs < noticeMs) return true;
    if (this.#noticed.size >= maxRecent) this.#noticed.clear();
    this.#noticed.set(change, { process: from, atMs: now });
    return false;
  }

  #forgetOldest(): void {
    this.#from = (this.#recent[maxRecent - 1] as RecentChange).position;
    this.#recent = this.#recent.slice(maxRecent);
  }

  /** Messages may have been missed: clients are told to read everything again that they follow. */
  #gap(): void {
    const isAnnounced = this.#gapFrom !== undefined;
    this.#gapFrom ??= this.position;
    this.#recent = [];
    // Something after this position was missed.
    this.#from = this.bus.position + 1;
    for (const kind of listKinds) this.#server.forgetList(kind);
    if (isAnnounced) return;
    const announceAll = (): void =>
      this.#refreshes.size === 0 ? this.#announceAll() : this.#afterRefresh(listKinds, () => this.#announceAll());
    const timer = setTimeout(announceAll, Math.random() * spreadMs);
    (timer as { unref?: () => void }).unref?.();
  }

  #announceAll(): void {
    this.#gapFrom = undefined;
    for (const kind of listKinds) this.#server.changes.publish({ kind });
    for (const uri of [...this.#server.changes.followedUris]) this.#server.changes.publish({ kind: 'resource', uri });
  }

  /** Of the last change that was received. Some of its clients may not have been notified yet. */
  get received(): number {
    return this.#received;
  }

  /** The clients of this process have been notified of all changes up to this position. */
  get position(): number {
    if (this.#gapFrom !== undefined) return this.#gapFrom;
    if (!this.#server.changes.idle) return this.#announced;
    return this.#refreshing === undefined ? this.bus.position : this.#received;
  }

  /** Notifications of what a session follows and was changed after a position; each change once. */
  since(position: number, session: Session | undefined, principal: Principal | undefined): string[] {
    if (session?.initialized !== true) return [];
    const texts = new Set<string>();
    const isList = (kind: ListKind): boolean => this.#server.offers(`${kind}.listChanged`);
    if (position < this.#from) {
      // It is not known what was changed, so everything may have been.
      for (const kind of listKinds) if (isList(kind)) texts.add(session.codec.change({ kind }));
      for (const uri of session.subscriptions) texts.add(session.codec.change({ kind: 'resource', uri }));
      return [...texts];
    }
    for (let at = this.#recent.length - 1; at >= 0; at--) {
      const recent = this.#recent[at] as RecentChange;
      if (recent.position <= position) break;
      const { kind, uri = '' } = recent.announced.change;
      const isFollowed =
        kind === 'resource'
          ? covers(session.subscriptions, uri) && this.#server.maySee(recent.announced, { principal, session })
          : isList(kind);
      if (isFollowed) texts.add(recent.announced.text(session.codec));
    }
    return [...texts].reverse();
  }
}

interface ReceivedChange {
  readonly kind: ChangeNotification['kind'];
  readonly uri?: string;
  readonly audience?: readonly string[];
  readonly mount?: readonly string[];
  readonly source?: ChangeSource;
}

/** Undefined for a change of a kind that this version does not know. */
function parse(data: Json): ReceivedChange | undefined {
  if (!isObject(data)) return undefined;
  const { kind } = data;
  if (kind !== 'resource' && !(listKinds as readonly unknown[]).includes(kind)) return undefined;
  return data as unknown as ReceivedChange;
}

function testOf(first: AudienceTest | undefined, second: AudienceTest | undefined): AudienceTest | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (principal, session) => first(principal, session) && second(principal, session);
}

function lazily(make: () => AudienceTest): AudienceTest {
  let test: AudienceTest | undefined;
  return (principal, session) => (test ??= make())(principal, session);
}

/** Whether one of the subscriptions is to the resource, or to a folder above it. */
function covers(subscriptions: ReadonlySet<string>, uri: string): boolean {
  if (subscriptions.size === 0) return false;
  if (subscriptions.has(uri)) return true;
  for (const folder of foldersOf(uri)) if (subscriptions.has(folder)) return true;
  return false;
}
