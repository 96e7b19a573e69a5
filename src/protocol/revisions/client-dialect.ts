// The contract of a dialect: how a client speaks one revision. Contract only; client-handshake.ts and
// client-stateless.ts implement it, client-vocabulary.ts picks one. The server's side is revision.ts.

import type { Capabilities, Implementation, LogLevel, Meta, SamplingResult } from '../model.ts';
import type { HeaderParam } from './headers.ts';

type Fields = { readonly [key: string]: unknown };

/** What travels beside the params of a request. */
export interface RequestMeta {
  readonly progressToken?: number;
  /** The least important log message wanted with the answer, on revisions that ask per request. */
  readonly logLevel?: LogLevel | undefined;
  /** Keys of the caller's own: trace context, extensions. */
  readonly extra?: Meta | undefined;
}

/** What a result turned out to be. */
export type Reading =
  | { readonly kind: 'complete' }
  | {
      readonly kind: 'input-required';
      readonly requests: Readonly<Record<string, InputRequest>>;
      readonly state: string | undefined;
    }
  | { readonly kind: 'invalid'; readonly why: string };

/** One question inside a result that asks for input. */
export interface InputRequest {
  readonly method: string;
  readonly params: Fields;
}

/** How requests of this revision travel over HTTP. */
export interface HttpManners {
  /** Headers of every request once the revision is settled: names and values in turn. */
  readonly headers: readonly string[];
  /** Parts of the body are repeated in headers. */
  readonly mirrored: boolean;
  /** There are sessions: an id to send back, a standing stream, streams that can be taken up again. */
  readonly sessions: boolean;
  /** Closing the stream of a request cancels it. */
  readonly closingCancels: boolean;
}

/** What a server said of itself when the conversation began. */
export interface ServerFacts {
  readonly capabilities: Capabilities;
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
}

/** The lists of changes a client can wait for. */
export interface ListenFilter {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  readonly uris?: readonly string[];
}

/** One revision of the protocol, ready to speak for one client. */
export interface Dialect {
  readonly date: string;
  readonly opening: 'initialize' | 'discover';
  /** How a server's question arrives: as a request of its own, or as a result that asks to come back. */
  readonly asks: 'push' | 'retry';
  /** Requests a server may know; anything else is not sent. */
  readonly requests: ReadonlySet<string>;
  /** Capabilities a server can declare; it need not declare what has no word. */
  readonly serverCapabilities: readonly string[];
  /** Messages may arrive in arrays. */
  readonly batches: boolean;
  readonly http: HttpManners;

  /** The text of a request; `fields` are the members of `params` as JSON without braces, maybe empty. */
  request(id: number, method: string, fields: string, meta: RequestMeta | undefined): string;
  /** The text of a notification; undefined where the revision does not have it. */
  notification(method: string, params?: Fields): string | undefined;
  cancelled(id: number, reason: string): string;
  /** The params that open a conversation, as `request` wants them. */
  openingFields(): string;
  /** Sorts the result of a request. */
  read(result: Fields): Reading;
  /** Headers that mirror a request: names and values in turn. Empty where nothing is mirrored. */
  headers(method: string, name: string | undefined, params: readonly HeaderParam[], args: Fields): readonly string[];
  /** The params of a request that waits for changes. */
  listenFields(filter: ListenFilter): string;
  /** A model's answer as the revision can carry it, or why it can not. */
  samplingResult(result: SamplingResult): Fields | string;
}
