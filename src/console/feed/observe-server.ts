// Fills the feed with the messages of a server in this process, by an observer. The observer is attached while a page is
// open, for a minute after that and after the start, and always with `keep`: otherwise the console adds no cost to calls.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Observer, RequestInfo, SessionInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { OpenSession, Peer, SessionControl } from '../../protocol/exchange.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { SessionRow } from '../api.ts';
import { BoundedMap } from './bounded-map.ts';
import { toJson } from './capture.ts';
import type { Feed } from './feed.ts';
import { copyOf } from './first-chars.ts';
import { clientLabel, type FeedPeer } from './peers.ts';

/** How long messages are recorded after the start, and after the last page was closed. */
const idleMs = 60_000;
/** Stops sessions that are opened again and again from filling the memory. */
const maxKeys = 2_000;
/** How much of a session key is shown. */
const shownKeyChars = 8;

export class ServerObserver {
  readonly #servers: Server[];
  readonly #feed: Feed;
  readonly #keep: boolean;
  readonly #onChange: (isOn: boolean) => void;
  #detach: (() => void)[] | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #delay: IntervalHistogram | undefined;
  #watchers = 0;
  /** Connections, and HTTP requests without a session. */
  readonly #byObject = new WeakMap<Peer, FeedPeer>();
  readonly #bySession = new WeakMap<SessionInfo, FeedPeer>();
  /** Peers of HTTP requests, by session or by what stateless clients report about themselves. */
  readonly #byKey = new BoundedMap<string, FeedPeer>(maxKeys);

  /** `onChange`: messages are recorded from now on, or not any more. */
  constructor(server: Server, feed: Feed, keep: boolean, onChange: (isOn: boolean) => void = () => {}) {
    this.#onChange = onChange;
    this.#servers = [server];
    this.#feed = feed;
    this.#keep = keep;
    this.#attach();
    this.#stopWhenIdle();
  }

  /** Another server whose clients are shown too. */
  add(server: Server): void {
    this.#servers.push(server);
    this.#detach?.push(server.observe(this.#observer));
  }

  /** Whether messages are recorded. */
  get isAttached(): boolean {
    return this.#detach !== undefined;
  }

  /** A page was opened. Returns a function for when it is closed. */
  watch(): () => void {
    this.#watchers++;
    clearTimeout(this.#idleTimer);
    this.#attach();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#watchers === 0) this.#stopWhenIdle();
    };
  }

  close(): void {
    clearTimeout(this.#idleTimer);
    this.#stop();
  }

  /** The group of a request that is running. */
  groupOf({ peer, session, ctx }: RequestInfo): string | undefined {
    const known = (session && this.#bySession.get(session as SessionInfo)) ?? this.#byObject.get(peer);
    if (known === undefined) return undefined;
    return this.#feed.openGroup({ peer: known, exchange: exchangeOf(peer) }, ctx.requestId);
  }

  sessions(): SessionRow[] {
    this.#feed.flush();
    const rows: SessionRow[] = [];
    for (const peer of this.#feed.peers.all()) {
      const { info, session, open, lastSeenMs, number } = peer;
      if (!open) continue;
      const streams = this.#streamsOf(peer);
      const { transport, revision, client, principal } = info;
      rows.push({
        key: info.session ?? String(number),
        peer: number,
        transport,
        ...(revision === undefined ? {} : { revision }),
        ...(client === undefined ? {} : { client }),
        ...(principal === undefined ? {} : { principal }),
        capabilities: Object.keys(session?.capabilities ?? {}),
        ...(session === undefined ? {} : { level: session.level }),
        subscriptions: session?.subscriptions.size ?? 0,
        streams: streams ?? (transport === 'stdio' || transport === 'memory' ? 1 : 0),
        canEnd: streams !== undefined,
        lastSeen: new Date(lastSeenMs).toISOString(),
      });
    }
    return rows;
  }

  /** Ends a session or connection. False: there is none with this number, or it cannot be ended here. */
  async end(number: number): Promise<boolean> {
    const peer = this.#feed.peers.get(number);
    if (peer === undefined || !peer.open || this.#streamsOf(peer) === undefined) return false;
    for (const control of this.#controls) {
      if (!(await control.end(sessionOf(peer)))) continue;
      peer.open = false;
      return true;
    }
    return false;
  }

  /** Undefined: no transport of this process can end it. */
  #streamsOf(peer: FeedPeer): number | undefined {
    const session = sessionOf(peer);
    if (session.key === undefined && session.peer === undefined) return undefined;
    for (const control of this.#controls) {
      const streams = control.streams(session);
      if (streams !== undefined) return streams;
    }
    return undefined;
  }

  get #controls(): readonly SessionControl[] {
    return this.#servers.flatMap(({ sessionControls }) => [...sessionControls]);
  }

  #stopWhenIdle(): void {
    if (this.#keep) return;
    this.#idleTimer = setTimeout(() => this.#stop(), idleMs);
    this.#idleTimer.unref();
  }

  #attach(): void {
    if (this.#detach !== undefined) return;
    this.#detach = this.#servers.map((server) => server.observe(this.#observer));
    this.#onChange(true);
    this.#delay = monitorEventLoopDelay({ resolution: 20 });
    this.#delay.enable();
    this.#ticker = setInterval(() => this.#tick(), 1_000);
    this.#ticker.unref();
  }

  #stop(): void {
    for (const detach of this.#detach ?? []) detach();
    this.#detach = undefined;
    this.#onChange(false);
    clearInterval(this.#ticker);
    this.#delay?.disable();
  }

  #tick(): void {
    const { mean = 0 } = this.#delay ?? {};
    this.#delay?.reset();
    let open = 0;
    for (const peer of this.#feed.peers.all()) if (peer.open) open++;
    this.#feed.rates.tick(open, Number.isFinite(mean) ? Math.round(mean / 1e4) / 100 : 0);
  }

  readonly #observer: Observer = {
    received: (message, peer, session, text) => {
      this.#feed.record({
        direction: 'in',
        peer: this.#peerOf(peer, session, message),
        // A handler may change its arguments before the message is recorded.
        text: text ?? toJson(message),
        message,
        exchange: exchangeOf(peer),
      });
    },
    sent: (text, peer, session) => {
      this.#feed.record({ direction: 'out', peer: this.#peerOf(peer, session), text, exchange: exchangeOf(peer) });
    },
    rejected: ({ message, text = '', peer, session, error }) => {
      const isMessage = message !== undefined;
      this.#feed.reject({
        direction: 'in',
        peer: this.#peerOf(peer, session),
        isMessage,
        text: isMessage ? toJson(message) : text,
        // It repeats texts of the client.
        reason: copyOf(this.#feed.capture.text(error.message).text),
      });
    },
    connected: (peer) => void this.#peerOf(peer, undefined),
    disconnected: (peer) => {
      const known = this.#byObject.get(peer);
      if (known !== undefined) known.open = false;
    },
  };

  #peerOf(peer: Peer, session: SessionInfo | undefined, message?: unknown): FeedPeer {
    const ofSession = session && this.#bySession.get(session);
    if (ofSession !== undefined && this.#isKnown(ofSession)) return ofSession;
    let known = this.#byObject.get(peer);
    if (known === undefined) {
      known = peer.transport === 'http' ? this.#httpPeer(peer, session, message) : this.#add(peer);
      // An entry for each request of a session would cost more than finding its peer.
      if (session === undefined || peer.transport !== 'http') this.#byObject.set(peer, known);
    }
    if (session !== undefined) this.#addSession(known, session, peer);
    return known;
  }

  /** False when it was forgotten because there are too many. */
  #isKnown(peer: FeedPeer): boolean {
    return this.#feed.peers.get(peer.number) === peer;
  }

  /** HTTP has requests, not connections: those of one session, or of one stateless client, are one peer. */
  #httpPeer(peer: Peer, session: SessionInfo | undefined, message: unknown): FeedPeer {
    if (isObject(message) && message['method'] === 'initialize') return this.#add(peer);
    const key = session === undefined ? statelessKey(peer, message) : sessionKey(session);
    const known = this.#byKey.get(key);
    if (known !== undefined && this.#isKnown(known)) return known;
    const added = this.#add(peer);
    this.#byKey.set(key, added);
    return added;
  }

  #add(peer: Peer): FeedPeer {
    const { transport, principal, address } = peer;
    const added = this.#feed.peers.add({
      transport,
      ...(principal === undefined ? {} : { principal: principal.id }),
      ...(address === undefined ? {} : { address }),
    });
    if (transport !== 'http') added.connection = peer;
    return added;
  }

  #addSession(known: FeedPeer, session: SessionInfo, peer: Peer): void {
    known.session = session;
    this.#bySession.set(session, known);
    if (peer.transport === 'http') this.#byKey.set(sessionKey(session), known);
    this.#feed.peers.update(known, {
      session: session.key.slice(0, shownKeyChars),
      revision: session.revision,
      client: clientLabel(session.clientInfo),
    });
  }
}

/** Over HTTP a session has a key and no connection; on the other transports the connection is the session. */
function sessionOf({ info, session, connection }: FeedPeer): OpenSession {
  return info.transport === 'http' ? { key: session?.key } : { peer: connection };
}

const sessionKey = (session: SessionInfo): string => `session ${session.key}`;

function statelessKey({ principal, address }: Peer, message: unknown): string {
  const params = isObject(message) ? message['params'] : undefined;
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  const revision = meta[metaKeys.protocolVersion];
  const client = clientLabel(meta[metaKeys.clientInfo]);
  return `client ${principal?.id} ${address} ${typeof revision === 'string' ? revision : ''} ${client}`;
}

/** Ids of requests are unique on a connection, but over HTTP only within a session: a stateless client has many. */
const exchangeOf = (peer: Peer): Peer | undefined => (peer.transport === 'http' ? peer : undefined);
