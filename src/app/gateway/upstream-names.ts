// Which server behind the gateway a request is for, for the audit log.

import type { RequestInfo } from '../../engine/ports.ts';
import type { Gateway, ServedAs } from '../../gateway/index.ts';
import type { ExposedView } from '../../gateway/names/index.ts';

interface Names {
  readonly tools: ReadonlyMap<string, string>;
  readonly prompts: ReadonlyMap<string, string>;
}

/** The names of each view. A view is a new object after every change, so its names are collected once. */
const known = new WeakMap<ExposedView, Names>();

/** Finds the server of requests at this place. */
export function upstreamNames(gateway: Gateway, as: ServedAs): (request: RequestInfo) => string | undefined {
  return ({ method, name, ctx }) => {
    if (name === undefined) return undefined;
    const view = gateway.exposed(as, ctx);
    if (view === undefined) return undefined;
    if (method === 'tools/call') return namesOf(view).tools.get(name);
    if (method === 'prompts/get') return namesOf(view).prompts.get(name);
    return method.startsWith('resources/') ? view.uris.route(name)?.slug : undefined;
  };
}

function namesOf(view: ExposedView): Names {
  let names = known.get(view);
  if (names === undefined) {
    names = {
      tools: new Map([...view.tools, ...view.withheldTools].map(({ exposed, slug }) => [exposed, slug])),
      prompts: new Map(view.prompts.map(({ exposed, slug }) => [exposed, slug])),
    };
    known.set(view, names);
  }
  return names;
}
