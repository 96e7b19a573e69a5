// Which resources a request subscribes to, for middleware that prepares their change notifications.

import type { JsonObject } from '../../protocol/model.ts';

/** Stops a request from making middleware watch an unlimited number of resources. */
const maxSubscribedUris = 1000;

/** The URIs in a `resources/subscribe` or `subscriptions/listen` request; empty for every other method. */
export function subscribedUris(method: string, params: JsonObject): readonly string[] {
  if (method === 'resources/subscribe') return typeof params['uri'] === 'string' ? [params['uri']] : [];
  if (method !== 'subscriptions/listen') return [];
  const uris = (params['notifications'] as { resourceSubscriptions?: unknown } | undefined)?.resourceSubscriptions;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string').slice(0, maxSubscribedUris) : [];
}
