// Being told of changes: resources/subscribe for sessions, subscriptions/listen for requests that stand alone.

import { callerKey } from '../../protocol/caller-budget.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { Call } from '../call.ts';
import { type Announcement, type ChangeListener, type ListKind, listKinds } from '../changes.ts';
import { type Feature, stillOpen } from '../feature.ts';

export const subscribe: Feature<undefined> = {
  run(call) {
    const { session, core, channel } = call;
    const uri = call.params['uri'] as string;
    if (session === undefined || session.subscriptions.has(uri)) return undefined;
    const { maxWatched, maxWatchedLength } = core.limits;
    if (session.subscriptions.size >= maxWatched) throw wireErrors.tooManyWatched(maxWatched);
    if (session.watchedLength + uri.length > maxWatchedLength) throw wireErrors.watchedTooLong(maxWatchedLength);
    if (core.kept.isFull(callerKey(call.peer))) throw wireErrors.tooMuchKept();
    channel.subscribe(session, uri);
    return undefined;
  },
  encode: (_result, { revision }) => revision.empty(),
};

export const unsubscribe: Feature<undefined> = {
  run(call) {
    if (call.session !== undefined) call.channel.unsubscribe(call.session, call.params['uri'] as string);
    return undefined;
  },
  encode: (_result, { revision }) => revision.empty(),
};

/** What a listener asked for and this server can honour. */
interface Filter {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

const flags = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' } as const;

export const listen: Feature<typeof stillOpen> = {
  pace: 'open',
  run(call) {
    const { core, channel } = call;
    const { maxSubscriptions } = core.limits;
    const filter = honoured(call);
    let open = 0;
    for (const each of channel.inFlight.values()) if (each.onDrain !== undefined) open++;
    if (open >= maxSubscriptions) throw wireErrors.tooManySubscriptions(maxSubscriptions);
    const caller = callerKey(call.peer);
    if (filter.resourceSubscriptions !== undefined && core.kept.isFull(caller)) throw wireErrors.tooMuchKept();
    if (!call.push(call.revision.acknowledged(call.id, filter as { readonly [key: string]: unknown }))) {
      throw call.outlet.full === true ? wireErrors.overloaded(1_000) : wireErrors.needsStream(call.method);
    }
    // Streams stay open by the thousand, so each keeps as little as it can: no signal, no promise, no params.
    call.forgetParams();
    const subscription = new Subscription(call, filter, caller);
    call.onEnd(() => subscription.close());
    call.onDrain = () => {
      subscription.close();
      // Pipes are told twice, since the texts on cancellation and on subscriptions each demand one of the two.
      if (call.header === undefined) {
        call.push(call.revision.cancelled(call.id, 'the server is closing', { [metaKeys.subscriptionId]: call.id }));
      }
      call.succeed(call.revision.subscriptionEnd(call.id));
    };
    if (channel.draining) call.onDrain();
    return stillOpen;
  },
  encode: (_result, { revision, id }) => revision.subscriptionEnd(id),
};

class Subscription implements ChangeListener {
  readonly #call: Call;
  readonly #filter: Filter;
  readonly caller: string;

  constructor(call: Call, filter: Filter, caller: string) {
    this.#call = call;
    this.#filter = filter;
    this.caller = caller;
    call.core.changes.add(this, this.#lists, filter.resourceSubscriptions ?? []);
  }

  get #lists(): readonly ListKind[] {
    return listKinds.filter((kind) => this.#filter[flags[kind]] === true);
  }

  notify(announcement: Announcement): void {
    const { core, peer, revision, id } = this.#call;
    if (announcement.change.kind === 'resource' && !core.mayHear(announcement, peer.principal)) return;
    this.#call.push(announcement.text(revision, id));
  }

  close(): void {
    this.#call.core.changes.remove(this, this.#lists, this.#filter.resourceSubscriptions ?? []);
  }
}

/** The part of what was asked for that the declared capabilities offer. */
function honoured({ core, params }: Call): Filter {
  const asked = params['notifications'] as Filter;
  const filter: Record<string, unknown> = {};
  for (const kind of listKinds) {
    if (asked[flags[kind]] === true && core.offers(`${kind}.listChanged`)) filter[flags[kind]] = true;
  }
  if (asked.resourceSubscriptions !== undefined && core.offers('resources.subscribe')) {
    filter['resourceSubscriptions'] = asked.resourceSubscriptions;
  }
  return filter;
}
