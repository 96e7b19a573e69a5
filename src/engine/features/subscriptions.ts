// Being told of changes: resources/subscribe for sessions, subscriptions/listen for requests that stand alone.

import { WireError, wireErrors } from '../../protocol/errors.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { Call } from '../call.ts';
import { type Feature, stillOpen } from '../feature.ts';
import { type Announcement, covers, type Listener } from '../hub.ts';

export const subscribe: Feature<undefined> = {
  run(call) {
    const { session } = call;
    const uri = call.params['uri'] as string;
    if (session !== undefined && session.subscriptions.size >= call.core.limits.maxWatched) {
      throw new WireError('internal', `Too many subscriptions; at most ${call.core.limits.maxWatched} resources`);
    }
    session?.subscribe(uri);
    return undefined;
  },
  encode: (_result, { revision }) => revision.empty(),
};

export const unsubscribe: Feature<undefined> = {
  run(call) {
    call.session?.unsubscribe(call.params['uri'] as string);
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
    const filter = honoured(call);
    let open = 0;
    for (const each of channel.inFlight.values()) if (each.onDrain !== undefined) open++;
    if (open >= core.limits.maxSubscriptions) {
      throw new WireError(
        'internal',
        `Too many subscriptions; at most ${core.limits.maxSubscriptions} on one connection`,
      );
    }
    if (!call.push(call.revision.acknowledged(call.id, filter as { readonly [key: string]: unknown }))) {
      throw call.outlet.full === true ? wireErrors.overloaded(1_000) : wireErrors.needsStream(call.method);
    }
    // Streams stay open by the thousand, so each keeps as little as it can: no signal, no promise, no params.
    call.forgetParams();
    const unlisten = core.hub.listen(new Subscription(call, filter));
    call.onEnd(unlisten);
    call.onDrain = () => {
      unlisten();
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

class Subscription implements Listener {
  readonly #call: Call;
  readonly #filter: Filter;

  constructor(call: Call, filter: Filter) {
    this.#call = call;
    this.#filter = filter;
  }

  hear(announcement: Announcement): void {
    const { kind, uri } = announcement.change;
    const { core, peer } = this.#call;
    const wanted =
      kind === 'resource'
        ? this.#filter.resourceSubscriptions?.some((each) => covers(each, uri as string)) === true &&
          core.mayHear(announcement, peer.principal)
        : this.#filter[flags[kind]] === true;
    if (wanted) this.#call.push(announcement.text(this.#call.revision, this.#call.id));
  }
}

/** The part of what was asked for that the declared capabilities offer. */
function honoured(call: Call): Filter {
  const { core } = call;
  const asked = call.params['notifications'] as { readonly [key: string]: unknown };
  const filter: Record<string, unknown> = {};
  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    const wish = asked[flags[kind]];
    if (wish !== undefined && typeof wish !== 'boolean') {
      throw wireErrors.invalidParams(`notifications.${flags[kind]} must be a boolean`);
    }
    if (wish === true && core.offers(`${kind}.listChanged`)) filter[flags[kind]] = true;
  }
  const uris = asked['resourceSubscriptions'];
  if (uris !== undefined) {
    if (!Array.isArray(uris) || !uris.every((each) => typeof each === 'string')) {
      throw wireErrors.invalidParams('notifications.resourceSubscriptions must be an array of URIs');
    }
    if (uris.length > core.limits.maxWatched) {
      throw wireErrors.invalidParams(
        `notifications.resourceSubscriptions names at most ${core.limits.maxWatched} URIs`,
      );
    }
    if (core.offers('resources.subscribe')) filter['resourceSubscriptions'] = uris;
  }
  return filter;
}
