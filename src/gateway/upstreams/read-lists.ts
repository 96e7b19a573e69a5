// Reads everything that a server lists.

import { type Client, ClientError, type ReadOptions } from '../../client/index.ts';
import { methods } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/model.ts';
import type { UpstreamLists } from '../contract.ts';
import { type SelectedSkills, skillSettings, validSkills } from '../skills.ts';
import { readPages } from './read-pages.ts';

const methodNotFound = -32601;

export interface ReadLists {
  readonly lists: UpstreamLists;
  /** Why a list other than the tools could not be read; it is as it was before. */
  readonly failure: unknown;
}

export interface ListReading {
  /** What was read the last time. */
  readonly before: UpstreamLists | undefined;
  /** A list without a word about who may see it is for one caller. Otherwise it is as the other lists are. */
  readonly isPrivateByDefault: boolean;
}

/**
 * Reads all pages of all lists in parallel. A server that does not offer a list has an empty one. Rejects if the tools cannot
 * be read.
 */
export async function readLists(
  client: Client,
  given: ReadOptions,
  { before, isPrivateByDefault }: ListReading,
): Promise<ReadLists> {
  let failure: unknown;
  const otherwise =
    <Item>(last: readonly Item[] = []) =>
    (error: unknown): readonly Item[] => {
      // Many servers declare resources and do not know the method for templates.
      if (error instanceof ClientError && error.serverError?.code === methodNotFound) return [];
      failure ??= error;
      return last;
    };
  const skillsBefore = (error: unknown): SelectedSkills => {
    const skills = otherwise(before?.skills)(error);
    return { skills, warnings: before?.warnings ?? [] };
  };
  let hints: CacheHint | undefined;
  let allHaveHints = true;
  /** Reads one list, and notes what it says about who may see it. */
  const withHints = async <Items extends readonly unknown[] | SelectedSkills>(
    read: (options: ReadOptions) => Promise<Items>,
  ): Promise<Items> => {
    let hasHint = false;
    const onCacheHint = (hint: CacheHint): void => {
      hasHint = true;
      hints = hints === undefined ? hint : stricter(hints, hint);
    };
    const items = await read({ ...given, onCacheHint });
    const found: readonly unknown[] | SelectedSkills = items;
    if (!hasHint && ('skills' in found ? found.skills : found).length > 0) allHaveHints = false;
    return items;
  };
  const [tools, prompts, resources, resourceTemplates, skills] = await Promise.all([
    withHints((options) => client.listTools(options)),
    withHints((options) => client.listPrompts(options)).catch(otherwise(before?.prompts)),
    withHints((options) => client.listResources(options)).catch(otherwise(before?.resources)),
    withHints((options) => client.listResourceTemplates(options)).catch(otherwise(before?.resourceTemplates)),
    offersSkills(client) ? withHints((options) => readSkills(client, options)).catch(skillsBefore) : undefined,
  ]);
  const cache: CacheHint | undefined =
    hints !== undefined && isPrivateByDefault && !allHaveHints ? { ...hints, cacheScope: 'private' } : hints;
  const { instructions, revision } = client;
  // Revisions without this capability have the method nevertheless.
  const completions = client.offers('completion/complete') ? { completions: {} } : {};
  // Only as an extension, and not on revisions that lack its methods.
  const { skills: _skills, ...capabilities } = client.capabilities;
  const lists = {
    tools,
    prompts,
    resources,
    resourceTemplates,
    ...skills,
    capabilities: { ...capabilities, ...completions, ...(skills && { skills: skillSettings(capabilities) }) },
    revision,
    ...(instructions === undefined ? {} : { instructions }),
    ...(cache === undefined ? {} : { cache }),
  };
  return { lists, failure };
}

function offersSkills(client: Client): boolean {
  return skillSettings(client.capabilities) !== undefined && client.offers(methods.listSkills.name);
}

async function readSkills(client: Client, given: ReadOptions): Promise<SelectedSkills> {
  const { cache: _cache, onCacheHint, ...options } = given;
  const list = { method: methods.listSkills.name, member: 'skills' };
  return validSkills(await readPages(client, list, options, onCacheHint));
}

function stricter(one: CacheHint, other: CacheHint): CacheHint {
  const isPublic = one.cacheScope === 'public' && other.cacheScope === 'public';
  return { ttlMs: Math.min(one.ttlMs, other.ttlMs), cacheScope: isPublic ? 'public' : 'private' };
}
