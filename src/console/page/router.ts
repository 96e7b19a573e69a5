// The screen and what it shows, in the fragment: `#/timeline?q=is%3Aerror`. Reload and back work.

import { signal } from '@preact/signals';

export interface PageRoute {
  readonly screen: string;
  /** The rest of the path, for example the name of a tool. */
  readonly item: string | undefined;
  readonly query: URLSearchParams;
}

export const route = signal<PageRoute>(parse(location.hash));

export function parse(hash: string): PageRoute {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [screen = '', ...item] = path.split('/');
  return {
    screen: screen === '' ? 'overview' : screen,
    item: item.length === 0 ? undefined : decode(item.join('/')),
    query: new URLSearchParams(query),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function link(screen: string, item?: string, query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#/${screen}${item === undefined ? '' : `/${encodeURIComponent(item)}`}${search === '' ? '' : `?${search}`}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** Changes the query of the current screen without a new entry in the history. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { screen, item, query } = route.value;
  const next = Object.fromEntries(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') delete next[name];
    else next[name] = value;
  }
  history.replaceState(null, '', link(screen, item, next));
  route.value = parse(location.hash);
}

export function startRouter(): void {
  addEventListener('hashchange', () => {
    route.value = parse(location.hash);
  });
}
