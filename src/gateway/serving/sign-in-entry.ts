// The tool of a server whose caller has to sign in: until then, its own tools are not known.

import type { ToolEntry } from '../../engine/catalog/catalog-entry.ts';
import { relayedTool } from '../../engine/catalog/relayed-entries.ts';
import { exposedName } from '../names/index.ts';
import { signIn } from '../relays/features.ts';
import type { RelayTarget } from '../relays/relay.ts';

export const signInName = 'sign_in';

/** `isSingle`: the tool needs no name of a server. */
export function signInEntry(target: RelayTarget, isSingle: boolean): ToolEntry {
  const { slug } = target.upstream;
  const tool = {
    name: isSingle ? signInName : exposedName(slug, signInName),
    title: `Sign in to ${slug}`,
    description: `The tools of ${slug} are listed after the user has signed in there with the browser. Call this tool to get the link.`,
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true, openWorldHint: true },
  } as const;
  return relayedTool(tool, { upstream: slug, run: (_, ctx) => signIn(target, ctx) });
}
