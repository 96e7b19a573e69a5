// Waiting for changes: one interface over resources/subscribe (sessions) and subscriptions/listen (stateless
// requests). A subscription outlives the connection: it is opened again, with a notice that changes may be missing.

import { pause, unlessAborted } from '../../common/wait.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { ListenFilter } from '../../protocol/revisions/client-revisions.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { pauseMs, transience } from '../calls/retry.ts';
import type { ClientConnection } from '../connection.ts';
import { ClientError, clientErrors } from '../errors.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { CallOptions } from '../options.ts';
import { type Change, ChangeQueue } from './changes.ts';
import { type FeatureContext, requireOffered } from './feature-context.ts';
import { requireArguments } from './method-arguments.ts';

/** What to wait for. */
export interface WatchFilter extends Omit<ListenFilter, 'taskIds'> {}

/** Open until closed, by either side. Iterate it; leaving the loop closes it. */
export interface Subscription extends AsyncIterable<Change> {
  /** What is followed. */
  readonly filter: WatchFilter;
  /** Stops following; iterating it then ends. */
  close(): Promise<void>;
}

/** Notifications of changes, and what each is about. */
export const changeMethods: Readonly<Record<string, Change['kind']>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
  'notifications/resources/updated': 'resource',
};

/**
 * Pauses between attempts to open a lost subscription again, and how many in a row may fail. The pauses also grow while
 * each subscription is shorter than the longest pause: some servers and proxies end them at once.
 */
const again = { maxAttempts: 10, baseDelayMs: 200, maxDelayMs: 10_000 };

/** The subscriptions of one client. */
export class Subscriptions {
  readonly #context: FeatureContext;
  readonly #open = new Set<ActiveSubscription>();
  readonly #turns = new KeyedMutex();

  constructor(context: FeatureContext) {
    this.#context = context;
  }

  /** `watch` for one resource. */
  async subscribe(uri: string, options?: CallOptions): Promise<Subscription> {
    requireArguments('subscribe', uri);
    assertCallOptions('subscribe', options);
    return this.watch({ uris: [uri] }, options);
  }

  /** Resolves when the server has agreed. */
  async watch(filter: WatchFilter, options: CallOptions = {}): Promise<Subscription> {
    requireFilter(filter);
    assertCallOptions('watch', options);
    const watch = new ActiveSubscription(this.#context, filter, options, this.#open, this.#turns);
    this.#open.add(watch);
    await watch.begin();
    return watch;
  }

  /** Closes every subscription for this resource only. */
  async unwatch(uri: string): Promise<void> {
    requireArguments('unsubscribe', uri);
    const same = [...this.#open].filter(({ filter: { uris = [] } }) => uris.length === 1 && uris[0] === uri);
    await Promise.all(same.map((watch) => watch.close()));
  }

  /** Passes a change to its subscriptions; `standing` is the long-lived request it came with, where there is one. */
  changed(change: Change, standing: OutgoingCall | undefined): void {
    for (const watch of this.#open) watch.onChange(change, standing);
  }

  acknowledged(params: JsonObject, standing: OutgoingCall | undefined): void {
    for (const watch of this.#open) if (watch.call === standing && standing !== undefined) watch.agreed(params);
  }

  close(): void {
    for (const watch of [...this.#open]) watch.end();
  }
}

function requireFilter(filter: WatchFilter): void {
  const { uris = [] } = isObject(filter) ? filter : {};
  if (isObject(filter) && Array.isArray(uris) && uris.every((uri) => typeof uri === 'string')) return;
  throw clientErrors.configuration(
    'watch needs a filter that says what to wait for: client.watch({ tools: true, uris: ["file:///notes.txt"] })',
  );
}

class ActiveSubscription implements Subscription {
  readonly filter: WatchFilter;
  readonly #context: FeatureContext;
  readonly #options: CallOptions;
  readonly #all: Set<ActiveSubscription>;
  /** One request at a time about a resource: over HTTP two could overtake each other. */
  readonly #turns: KeyedMutex;
  readonly #queue = new ChangeQueue();
  readonly #closing = new AbortController();
  /** Its long-lived request, on revisions that have one. */
  call: OutgoingCall | undefined;
  #agreed: ((params: JsonObject) => void) | undefined;

  constructor(
    context: FeatureContext,
    filter: WatchFilter,
    options: CallOptions,
    all: Set<ActiveSubscription>,
    turns: KeyedMutex,
  ) {
    this.#context = context;
    this.filter = filter;
    this.#options = options;
    this.#all = all;
    this.#turns = turns;
  }

  async begin(): Promise<void> {
    const { signal } = this.#options;
    try {
      if (signal?.aborted) throw clientErrors.cancelled('subscribe', signal.reason);
      signal?.addEventListener('abort', this.#onAbort, { once: true });
      // Closing ends any wait.
      const over = await unlessAborted(this.#attach(), this.#closing.signal);
      if (this.#closing.signal.aborted) throw clientErrors.cancelled('subscribe', signal?.reason);
      void this.#keep(over);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  onChange(change: Change, standing: OutgoingCall | undefined): void {
    if (standing !== undefined ? standing === this.call : this.#wants(change)) this.#queue.push(change);
  }

  agreed(params: JsonObject): void {
    this.#agreed?.(params);
  }

  [Symbol.asyncIterator](): AsyncIterator<Change> {
    return {
      next: () => this.#queue.next(),
      return: async () => {
        await this.close();
        return { done: true, value: undefined };
      },
    };
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { call } = this;
    this.end();
    if (call !== undefined) return;
    const { uris = [] } = this.filter;
    await Promise.allSettled(uris.map((uri) => this.#unsubscribe(uri)));
  }

  end(error?: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#all.delete(this);
    this.#closing.abort(clientErrors.cancelled('subscribe', undefined));
    this.#queue.end(error);
  }

  #onAbort = (): void => void this.close();

  /** Opens it on the current connection. The result settles when it is over there. */
  async #attach(): Promise<{ readonly over: Promise<unknown> }> {
    const connection = await this.#context.caller.ready();
    if (connection.codec?.requests.has(methods.listen.name)) return this.#listen(connection);
    const { uris = [] } = this.filter;
    if (uris.length > 0) requireOffered(this.#context, methods.subscribe);
    await Promise.all(uris.map((uri) => this.#turns.run(uri, () => this.#request('subscribe', uri))));
    return { over: connection.ended };
  }

  /** Unless another subscription needs it, or the connection is closed. */
  #unsubscribe(uri: string): Promise<void> {
    return this.#turns.run(uri, async () => {
      const { connection } = this.#context.caller;
      const isWanted = [...this.#all].some(({ filter }) => filter.uris?.includes(uri));
      if (isWanted || connection === undefined || connection.over !== undefined) return;
      await this.#request('unsubscribe', uri);
    });
  }

  async #request(verb: 'subscribe' | 'unsubscribe', uri: string): Promise<void> {
    const { timeoutMs, maxTimeoutMs } = this.#options;
    const fields = `"uri":${JSON.stringify(uri)}`;
    const call = new OutgoingCall(methods[verb], fields, () => undefined, { timeoutMs, maxTimeoutMs });
    call.idempotent = true;
    await this.#context.caller.start(call);
  }

  async #listen(connection: ClientConnection): Promise<{ readonly over: Promise<unknown> }> {
    const fields = connection.codec?.listenFields(this.filter) ?? '';
    const { timeoutMs, maxTimeoutMs, meta } = this.#options;
    const call = new OutgoingCall(methods.listen, fields, () => undefined, {
      timeoutMs,
      maxTimeoutMs,
      meta,
      signal: this.#closing.signal,
    });
    call.longLived = true;
    this.call = call;
    const acknowledged = new Promise<JsonObject>((resolve) => {
      this.#agreed = resolve;
    });
    const over = this.#context.caller.start(call);
    // It may end before it is awaited.
    over.catch(() => {});
    const params = await Promise.race([acknowledged, over.then(() => undefined)]);
    if (params !== undefined) {
      call.connection?.exempt(call);
      this.#checkHonoured(params);
    }
    return { over };
  }

  /** A server acknowledges what it will do; waiting for a resource that it left out would never end. */
  #checkHonoured(params: JsonObject): void {
    const honoured = isObject(params['notifications']) ? params['notifications'] : {};
    const uris = Array.isArray(honoured['resourceSubscriptions']) ? honoured['resourceSubscriptions'] : [];
    const missing = (this.filter.uris ?? []).filter((uri) => !uris.includes(uri));
    if (missing.length > 0) throw clientErrors.notOffered(`changes of ${missing.join(', ')}`);
  }

  /** Opens it again whenever the connection is lost. */
  async #keep(first: { readonly over: Promise<unknown> }): Promise<void> {
    const { signal } = this.#closing;
    let current: { readonly over: Promise<unknown> } | undefined = first;
    let openedAt = performance.now();
    let short = 0;
    const ended = (): void => {
      short = performance.now() - openedAt < again.maxDelayMs ? short + 1 : 0;
    };
    for (let failures = 0; !signal.aborted; ) {
      try {
        await current?.over.finally(ended);
        current = undefined;
        if (signal.aborted) return;
        await pause(pauseMs(failures + short + 2, again), signal);
        current = await this.#attach();
        openedAt = performance.now();
        failures = 0;
        this.#reportMissed();
      } catch (error) {
        current = undefined;
        if (signal.aborted) return;
        if (this.#context.caller.closed) return this.end();
        if (!isTransient(error) || ++failures >= again.maxAttempts) return this.end(error);
      }
    }
  }

  #reportMissed(): void {
    const { tools, prompts, resources, uris = [] } = this.filter;
    for (const [kind, wanted] of Object.entries({ tools, prompts, resources })) {
      if (wanted === true) this.#queue.push({ kind: kind as Change['kind'], missed: true });
    }
    for (const uri of uris) this.#queue.push({ kind: 'resource', uri, missed: true });
  }

  #wants({ kind, uri }: Change): boolean {
    if (kind !== 'resource') return this.filter[kind] === true;
    // A server may name a part of what was subscribed to.
    return this.filter.uris?.some((each) => uri === each || uri?.startsWith(`${each.replace(/\/$/, '')}/`)) === true;
  }
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return (
    transience(error) !== undefined || ['connect-timeout', 'timeout', 'session-lost', 'closed'].includes(error.code)
  );
}
