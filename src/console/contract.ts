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
  /** The HTTP method. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The text after `?`; empty if there is none. */
  readonly query: string;
  /** The address of the client. */
  readonly address: string | undefined;
  /** A header by its lower-case name. */
  get(name: string): string | undefined;
  /** Reads the body as text. A longer one than `maxBytes` is a reason instead. */
  readBody(maxBytes: number, done: (body: string | { readonly reason: string }) => void): void;
  /** Sends the whole response. Header names and values alternate. */
  respond(status: number, headers: readonly string[], body?: string | Uint8Array): void;
  /** Starts a response with status 200 that is written in parts. */
  openStream(headers: readonly string[]): ConsoleSink;
  /** Calls the listener when the connection has ended. */
  onGone(listener: () => void): void;
}

/** Takes the text of an event stream. */
export interface ConsoleSink {
  /** Sends a part of the response. */
  write(text: string): void;
  /** Ends the response. */
  end(): void;
  /** Bytes that the reader has not read yet. */
  readonly queued: number;
  /** Closes the connection, because the reader does not read. */
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
  /** The servers behind the gateway, as they are now. */
  upstreams(): readonly UpstreamRow[];
  /** Calls the listener with each server of the gateway, existing ones and those that are created later. */
  eachServer(listener: (server: Server) => void): void;
  /** Ends the connections of a server and starts it again. */
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
