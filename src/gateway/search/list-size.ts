// How long the list of a view is, and whether it is replaced by search tools.

import type { Tool } from '../../protocol/model.ts';
import type { ViewConfig } from '../config/gateway-config.ts';

export interface ListMode {
  /** The list shows the short list and the search tools. */
  readonly search: boolean;
  readonly bytes: number;
  /** The sentence for the log if the list is too long and shown nevertheless. */
  readonly warning?: string;
}

/** Decides what `tools/list` of a view shows. */
export function listModeOf(view: ViewConfig, tools: readonly Tool[]): ListMode {
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  if (view.mode === 'search') return { search: true, bytes };
  if (bytes <= view.maxListBytes) return { search: false, bytes };
  if (view.mode === 'auto') return { search: true, bytes };
  const where = view.name === '' ? 'the default view' : `the view ${view.name}`;
  const warning =
    `the list of tools of ${where} has ${bytes} bytes (${tools.length} tools), which every client sends to its model; ` +
    'choose tools with filters, or set "mode": "auto" for the view';
  return { search: false, bytes, warning };
}

/** Whether a tool is in the list of a search view. */
export function isShortListed({ shortList }: ViewConfig, exposedName: string): boolean {
  return shortList.includes(exposedName);
}
