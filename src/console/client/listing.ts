// Reads from a server as a client what the page shows: its lists, and its description on each revision.

import type { Client } from '../../client/index.ts';
import { parseJson } from '../../common/parse-json.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { About, JsonObject, Lists } from '../api.ts';
import { memberText } from '../feed/json-member.ts';
import type { Clients, SharedClient } from './clients.ts';

/** The lists as a client of the revision gets them. A list that cannot be read is empty, with a note. */
export async function listsOf({ client, warnings }: SharedClient): Promise<Lists> {
  warnings.length = 0;
  const notes: string[] = [];
  const list = async (name: string, read: () => Promise<readonly object[]>): Promise<readonly JsonObject[]> => {
    try {
      return (await read()) as readonly JsonObject[];
    } catch (error) {
      notes.push(`${name}: ${(error as Error).message}`);
      return [];
    }
  };
  const tools = await list('tools', () => client.listTools());
  const resources = await list('resources', () => client.listResources());
  const resourceTemplates = await list('resource templates', () => client.listResourceTemplates());
  const prompts = await list('prompts', () => client.listPrompts());
  const skills = await list('skills', () => client.skills.list());
  const { revision, instructions } = client;
  return {
    revision,
    tools,
    resources,
    resourceTemplates,
    prompts,
    ...(skills.length === 0 ? {} : { skills }),
    ...(instructions === undefined ? {} : { instructions }),
    notes: [...notes, ...warnings],
  };
}

/** What the server sends to a client of each revision when it connects. */
export async function describeRevisions(
  clients: Clients,
  revisions: readonly string[],
): Promise<About['descriptions']> {
  const descriptions: About['descriptions'][number][] = [];
  for (const revision of revisions) {
    let text: string | undefined;
    const onMessage = (direction: 'in' | 'out', message: string): void => {
      if (direction === 'in') text ??= descriptionIn(message);
    };
    // A revision that the server does not support has no description.
    await clients.once(revision, { onMessage }, async (_client: Client) => {}).catch(() => {});
    if (text !== undefined) descriptions.push({ revision, text });
  }
  return descriptions;
}

/** The result of `initialize` or `server/discover`. */
export function descriptionIn(message: string): string | undefined {
  const parsed = parseJson(message);
  const result = isObject(parsed) ? parsed['result'] : undefined;
  return isObject(result) && isObject(result['capabilities']) ? memberText(message, 'result') : undefined;
}
