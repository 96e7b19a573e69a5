// Reads everything that a server lists.

import type { Client, ReadOptions } from '../../client/index.ts';
import type { UpstreamLists } from '../contract.ts';

/** All pages of all lists, at the same time. A server that does not offer a list has an empty one. */
export async function readLists(client: Client, options: ReadOptions): Promise<UpstreamLists> {
  const [tools, prompts, resources, resourceTemplates] = await Promise.all([
    client.listTools(options),
    client.listPrompts(options),
    client.listResources(options),
    client.listResourceTemplates(options),
  ]);
  const { instructions, revision } = client;
  // Revisions without this capability have the method nevertheless.
  const completions = client.offers('completion/complete') ? { completions: {} } : {};
  return {
    tools,
    prompts,
    resources,
    resourceTemplates,
    capabilities: { ...client.capabilities, ...completions },
    revision,
    ...(instructions === undefined ? {} : { instructions }),
  };
}
