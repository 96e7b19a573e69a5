// How long the list of a view is, and whether it is replaced by search tools.

import type { Tool } from '../../protocol/model.ts';
import type { ViewConfig } from '../config/gateway-config.ts';

export interface ListMode {
  /** The list shows the short list and the search tools. */
  readonly search: boolean;
  /** The warning to log if the list is too long but shown anyway. */
  readonly warning?: string;
}

/** Decides what `tools/list` of a view shows. */
export function listModeOf(view: ViewConfig, tools: readonly Tool[]): ListMode {
  if (view.mode === 'search') return { search: true };
  if (!isLonger(tools, view.maxListBytes)) return { search: false };
  if (view.mode === 'auto') return { search: true };
  const where = view.name === '' ? 'the default view' : `the view ${view.name}`;
  const warning =
    `the list of tools of ${where} (${tools.length} tools) has more than ${view.maxListBytes} bytes, which every client ` +
    'sends to its model; choose tools with filters, or set "mode": "auto" for the view';
  return { search: false, warning };
}

/** Counts only as far as needed: a hostile list may be of any length. */
function isLonger(tools: readonly Tool[], maxBytes: number): boolean {
  let bytes = 0;
  return tools.some((tool) => {
    bytes += Buffer.byteLength(JSON.stringify(tool)) + 1;
    return bytes > maxBytes;
  });
}

/** Whether a tool is in the list of a search view. */
export function isShortListed({ shortList }: ViewConfig, exposedName: string): boolean {
  return shortList.includes(exposedName);
}
