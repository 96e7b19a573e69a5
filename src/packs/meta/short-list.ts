// Progressive disclosure: tools/list shows a short list, search_tools finds the rest, and tools that a session has found
// are listed to it from then on. Tools that are not listed can be called as well: this saves context of the model and is
// not access control.

import type { Context } from '../../engine/context.ts';
import type { Middleware } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';

const sessionKey = 'meta.disclosed';
/** Number of cached filtered lists; stops sessions that find ever different tools from filling memory. */
const maxListed = 256;

export interface ShortList {
  /** Lists these tools to the session from now on. */
  addToList(names: readonly string[], ctx: Context): void;
}

/** Shortens tools/list to `shown` and the tools that the session has found. */
export function installShortList(server: Server, shown: ReadonlySet<string>): ShortList {
  const shortened = new Map<string, string>();
  const shorten: Middleware = ({ method, ctx }, next) => {
    if (method !== 'tools/list') return next();
    const found = foundBy(ctx);
    const apply = (text: unknown): unknown => {
      const key = `${[...(found ?? [])].sort().join(' ')}\n${text}`;
      let short = shortened.get(key);
      if (short === undefined) {
        short = filter(text as string, (name) => shown.has(name) || found?.has(name) === true);
        if (shortened.size >= maxListed) shortened.clear();
        shortened.set(key, short);
      }
      return short;
    };
    const listed = next();
    return listed instanceof Promise ? listed.then(apply) : apply(listed);
  };
  server.around(shorten);
  return {
    addToList(names, ctx) {
      const { session } = ctx;
      if (session === undefined) return; // Stateless requests have no list of their own.
      const found = foundBy(ctx) ?? new Set<string>();
      const fresh = names.filter((name) => !shown.has(name) && !found.has(name));
      if (fresh.length === 0) return;
      for (const name of fresh) found.add(name);
      session.values.set(sessionKey, found);
      server.toolsChanged();
    },
  };
}

function foundBy(ctx: Context): Set<string> | undefined {
  return ctx.session?.values.get(sessionKey) as Set<string> | undefined;
}

function filter(text: string, isShown: (name: string) => boolean): string {
  const list = JSON.parse(text) as { tools: { name: string }[] };
  return JSON.stringify({ ...list, tools: list.tools.filter(({ name }) => isShown(name)) });
}
