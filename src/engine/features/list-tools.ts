// What a server knows of its tools before one is called: tools/list, and how long a call may take.

import type { Call } from '../call.ts';
import type { Feature } from '../feature.ts';

export const listTools: Feature<string> = {
  run: (call) => call.core.lists.page('tools', call),
  encode: (text) => text,
};

/** The tool's own limit; whether the caller may see the tool is not asked here. */
export function toolTimeoutMs(call: Call): number | undefined {
  return call.core.catalog.tools.get(call.params['name'] as string)?.definition.timeoutMs;
}
