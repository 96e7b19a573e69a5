// What a handshake settled, and what the session has asked for since. Connections keep theirs in memory; over HTTP the
// transport restores one from a sealed id and is told when something changes.

import type { Capabilities, Implementation, Json, LogLevel, Root } from '../protocol/model.ts';
import type { Revision } from '../protocol/revisions/index.ts';
import type { SessionView } from './context.ts';

/** What `initialize` settled; all that is needed to take a session up again elsewhere. */
export interface SessionFacts {
  readonly key: string;
  readonly revision: string;
  readonly clientInfo?: Implementation;
  readonly capabilities: Capabilities;
}

/** What changes during a session and must outlive the request that changed it. */
export interface SessionState {
  readonly initialized?: boolean;
  readonly level?: LogLevel;
  readonly subscriptions?: readonly string[];
}

/** Told when the state changed, where something else must keep it. */
export type SaveState = (state: SessionState) => void;

export class Session implements SessionView {
  readonly key: string;
  readonly revision: Revision;
  readonly clientInfo: Implementation | undefined;
  readonly capabilities: Capabilities;
  #initialized: boolean;
  #level: LogLevel;
  readonly subscriptions: Set<string>;
  /** Roots the client gave, kept only while it has promised to tell of changes. */
  roots: readonly Root[] | undefined;
  #values: Map<string, unknown> | undefined;
  readonly #save: SaveState | undefined;

  constructor(revision: Revision, facts: Omit<SessionFacts, 'revision'>, state: SessionState = {}, save?: SaveState) {
    this.key = facts.key;
    this.revision = revision;
    this.clientInfo = facts.clientInfo;
    this.capabilities = facts.capabilities;
    this.#initialized = state.initialized ?? false;
    this.#level = state.level ?? 'info';
    this.subscriptions = new Set(state.subscriptions);
    this.#save = save;
  }

  get facts(): SessionFacts {
    const { key, clientInfo, capabilities } = this;
    return { key, revision: this.revision.date, ...(clientInfo === undefined ? {} : { clientInfo }), capabilities };
  }

  get values(): Map<string, unknown> {
    return (this.#values ??= new Map());
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
    this.#changed();
  }

  setLevel(level: LogLevel): void {
    this.#level = level;
    this.#changed();
  }

  subscribe(uri: string): void {
    this.subscriptions.add(uri);
    this.#changed();
  }

  unsubscribe(uri: string): void {
    this.subscriptions.delete(uri);
    this.#changed();
  }

  #changed(): void {
    this.#save?.({
      ...(this.#initialized ? { initialized: true } : {}),
      ...(this.#level === 'info' ? {} : { level: this.#level }),
      ...(this.subscriptions.size === 0 ? {} : { subscriptions: [...this.subscriptions] }),
    });
  }
}

/** Facts as JSON, for sealing and stores. */
export function factsToJson(facts: SessionFacts): Json {
  return facts as unknown as Json;
}
