// The interfaces that the parts of the console share. Types only.

import type { Server } from '../engine/server.ts';
import type {
  About,
  AuditPage,
  AuthStep,
  ConnectionState,
  ConsoleState,
  Lists,
  OperateRequest,
  SessionRow,
  TaskRow,
  UpstreamRow,
  Validated,
  ValidateRequest,
} from './api.ts';
import type { ConsoleCalls } from './client/calls.ts';
import type { Feed } from './feed/feed.ts';

/** One HTTP request of the page and its response. `HttpExchange` of the HTTP transport implements it. */
export interface ConsoleExchange {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  readonly address: string | undefined;
  /** A header by its lower-case name. */
  get(name: string): string | undefined;
  readBody(maxBytes: number, done: (body: string | { readonly reason: string }) => void): void;
  respond(status: number, headers: readonly string[], body?: string | Uint8Array): void;
  openStream(headers: readonly string[]): ConsoleSink;
  onGone(listener: () => void): void;
}

/** Takes the text of an event stream. */
export interface ConsoleSink {
  write(text: string): void;
  end(): void;
  /** Bytes that the reader has not read yet. */
  readonly queued: number;
  destroy(): void;
}

/** What a reader of the console may do. */
export type Right = ConsoleState['rights'][number];

/** Who uses the console. */
export interface ConsoleUser {
  /** `console`, or the id of an authenticated principal. */
  readonly id: string;
  readonly rights: ReadonlySet<Right>;
}

/** A gateway, as the console shows it. */
export interface ConsoleGateway {
  upstreams(): readonly UpstreamRow[];
  /** Calls the listener with each server of the gateway, existing ones and those that are created later. */
  eachServer(listener: (server: Server) => void): void;
  restart(slug: string): Promise<void>;
  /** Accepts what was seen of a server, or of one of its tools. */
  accept(slug: string, tool?: string): void;
  /**
   * Calls the listener with every message between the gateway and its servers, in the context of the call that caused it.
   * `connection` is the same for all messages of a connection. Returns a function that ends it.
   */
  observe(listener: (slug: string, connection: object, direction: 'in' | 'out', text: string) => void): () => void;
}

/** What the console shows, and what it can do with it. Parts that are missing are screens that are not offered. */
export interface ConsoleSource {
  readonly mode: ConsoleState['mode'];
  readonly feed: Feed;
  readonly server: ConsoleState['server'];
  readonly revisions: readonly string[];
  readonly snippets: ConsoleState['snippets'];
  readonly connection?: ConnectionState | undefined;
  /** Calls the server as a client. */
  readonly calls?: ConsoleCalls | undefined;
  lists?(revision: string | undefined): Promise<Lists>;
  validate?(request: ValidateRequest): Promise<Validated>;
  sessions?(): readonly SessionRow[];
  /** The servers behind a gateway. */
  readonly upstreams?: (() => readonly UpstreamRow[]) | undefined;
  readonly tasks?: (() => Promise<readonly TaskRow[]>) | undefined;
  audit?(query: URLSearchParams): Promise<AuditPage>;
  about(): Promise<About>;
  auth?(): readonly AuthStep[];
  /** Actions by name, for users with the right `operate`. */
  readonly operations?: Readonly<Record<string, (request: OperateRequest) => Promise<void> | void>> | undefined;
  /** Called while the page is open, so that messages are observed; returns a function that ends it. */
  watch?(): () => void;
  close(): Promise<void>;
}
