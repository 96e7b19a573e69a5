// What `initialize` negotiated, and what the client has set since. Connections hold their session in memory; over HTTP the
// transport restores it from a sealed id and is notified when its state changes.

import type { ChannelSession, SaveState, SessionFacts, SessionState } from '../../protocol/exchange.ts';
import type { Capabilities, Implementation, LogLevel, Root } from '../../protocol/model.ts';
import type { Codec } from '../../protocol/revisions/index.ts';
import { newSessionKey } from '../../protocol/session-key.ts';
import type { SessionInfo } from '../ports.ts';

const none: ReadonlySet<string> = new Set();

/** What is known of a session when it starts; the key may be created later. */
type Facts = Omit<SessionFacts, 'revision' | 'key'> & { readonly key?: string | undefined };

export class Session implements SessionInfo, ChannelSession {
  #key: string | undefined;
  readonly codec: Codec;
  readonly clientInfo: Implementation | undefined;
  readonly capabilities: Capabilities;
  #initialized: boolean;
  #level: LogLevel;
  #subscriptions: Set<string> | undefined;
  /** Total characters of the URIs in `subscriptions`. */
  #watchedLength = 0;
  /** The client's roots, cached only if it sends notifications when they change. */
  #roots: readonly Root[] | undefined;
  /** Counts changes of the roots: a response from before a change is not cached after it. */
  rootsVersion = 0;
  #values: Map<string, unknown> | undefined;
  readonly #save: SaveState | undefined;

  constructor(codec: Codec, facts: Facts, state: SessionState = {}, save?: SaveState) {
    this.#key = facts.key;
    this.codec = codec;
    this.clientInfo = facts.clientInfo;
    this.capabilities = facts.capabilities;
    // Stored only under rules that wait for the notification; otherwise a resumed session counts as initialized.
    this.#initialized = state.initialized ?? (save !== undefined && codec.rules.requestsFrom === 'initialize');
    this.#level = state.level ?? 'info';
    if (state.subscriptions !== undefined) {
      this.#subscriptions = new Set(state.subscriptions);
      for (const uri of this.#subscriptions) this.#watchedLength += uri.length;
    }
    this.#save = save;
  }

  /** Created on first use if none was given. */
  get key(): string {
    return this.#key ?? this.#makeKey();
  }

  #makeKey(): string {
    return (this.#key = newSessionKey());
  }

  get facts(): SessionFacts {
    const { key, clientInfo, capabilities } = this;
    return { key, revision: this.codec.date, ...(clientInfo === undefined ? {} : { clientInfo }), capabilities };
  }

  get revision(): string {
    return this.codec.date;
  }

  /** Its state is stored elsewhere, so that it outlives the request or the connection. */
  get saved(): boolean {
    return this.#save !== undefined;
  }

  get polling(): boolean {
    return this.codec.polling;
  }

  get hasState(): boolean {
    return (this.#subscriptions?.size ?? 0) > 0 || (this.#values !== undefined && this.#values.size > 0);
  }

  /** URIs of the resources that it is notified of; most sessions have none. */
  get subscriptions(): ReadonlySet<string> {
    return this.#subscriptions ?? none;
  }

  get watchedLength(): number {
    return this.#watchedLength;
  }

  get values(): Map<string, unknown> {
    return (this.#values ??= new Map());
  }

  get roots(): readonly Root[] | undefined {
    return this.#roots;
  }

  /** Caches roots that were requested for this version. */
  cacheRoots(roots: readonly Root[], version: number): void {
    if (version === this.rootsVersion) this.#roots = roots;
  }

  forgetRoots(): void {
    this.rootsVersion++;
    this.#roots = undefined;
  }

  get initialized(): boolean {
    return this.#initialized;
  }

  get level(): LogLevel {
    return this.#level;
  }

  markInitialized(): void {
    if (this.#initialized) return;
    this.#initialized = true;
    if (this.codec.rules.requestsFrom === 'initialized') this.#changed();
  }

  setLevel(level: LogLevel): void {
    this.#level = level;
    this.#changed();
  }

  subscribe(uri: string): void {
    this.#subscriptions ??= new Set();
    if (this.#subscriptions.has(uri)) return;
    this.#subscriptions.add(uri);
    this.#watchedLength += uri.length;
    this.#changed();
  }

  unsubscribe(uri: string): void {
    if (this.#subscriptions?.delete(uri) !== true) return;
    this.#watchedLength -= uri.length;
    this.#changed();
  }

  /** Takes over a state that another process has changed. */
  setState({ initialized, level, subscriptions }: SessionState): void {
    if (initialized === true) this.#initialized = true;
    this.#level = level ?? 'info';
    this.#subscriptions = subscriptions && new Set(subscriptions);
    this.#watchedLength = 0;
    for (const uri of this.subscriptions) this.#watchedLength += uri.length;
  }

  #changed(): void {
    this.#save?.({
      ...(this.#initialized && this.codec.rules.requestsFrom === 'initialized' ? { initialized: true } : {}),
      ...(this.#level === 'info' ? {} : { level: this.#level }),
      ...(this.subscriptions.size === 0 ? {} : { subscriptions: [...this.subscriptions] }),
    });
  }
}
