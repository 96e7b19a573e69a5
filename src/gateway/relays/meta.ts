// What crosses the gateway in `_meta`, and in headers. From clients: the trace context. From upstreams: everything but reserved keys, which
// say something about one connection only.

import type { Context } from '../../engine/context.ts';
import { hasReservedKeys, reservedPrefix } from '../../protocol/meta.ts';
import type { Meta } from '../../protocol/model.ts';
import { isTraceValue, traceKeys } from '../../protocol/trace-context.ts';

/** The `_meta` of a request to an upstream; undefined if it is empty. `identify`: it names the caller's client. */
export function forwardedMeta({ meta, clientInfo }: Context, identify: boolean): Meta | undefined {
  let forwarded: Record<string, unknown> | undefined;
  for (const key of traceKeys) {
    const value = meta[key];
    if (isTraceValue(value)) (forwarded ??= {})[key] = value;
  }
  if (identify && clientInfo !== undefined) {
    const { name, version } = clientInfo;
    (forwarded ??= {})['mooring/client'] = { name, version };
  }
  return forwarded;
}

/** The headers of the client's request that the entry of the upstream names; undefined if there are none. */
export function forwardedHeaders(ctx: Context, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (names.length === 0) return undefined;
  const found = names.flatMap((name): [string, string][] => {
    const value = ctx.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** The `_meta` of a result without reserved keys; the same object if there are none. */
export function withoutReserved(meta: Meta | undefined): Meta | undefined {
  if (meta === undefined || !hasReservedKeys(meta)) return meta;
  const rest = Object.entries(meta).filter(([key]) => !key.startsWith(reservedPrefix));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}
