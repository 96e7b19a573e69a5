// Requests for a skill or a folder of an upstream.

import { ClientError } from '../../client/index.ts';
import type { Context } from '../../engine/context.ts';
import type { FoundSkill } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { JsonObject, Resource } from '../../protocol/model.ts';
import { type Skill, skillProblem } from '../../protocol/skills.ts';
import { cleanResource } from '../clean-lists.ts';
import { hiddenProblem } from '../skills.ts';
import { callerKeys } from '../upstreams/isolation.ts';
import { cacheHintOf, readPages } from '../upstreams/read-pages.ts';
import { toWireError } from './failures.ts';
import { type RelayTarget, relay } from './relay.ts';
import { type ExposeUri, withPlainMeta } from './results.ts';

/** What servers respond for a URI that they do not have. */
const unknownCodes: readonly (number | undefined)[] = [-32602, -32002];

/** A URI as the client sent it, and as its server knows it. */
export interface RequestedUri {
  readonly uri: string;
  readonly exposed: string;
}

/** Gets a skill as it is now. `expose`: the skill as clients see it; undefined if they do not. */
export function getSkill(
  target: RelayTarget,
  { uri, exposed }: RequestedUri,
  expose: (skill: Skill) => Skill | undefined,
  ctx: Context,
): Promise<FoundSkill | undefined> {
  const unknown = wireErrors.unknownSkill(exposed);
  return relay<JsonObject, FoundSkill | undefined>(target, ctx, {
    isRepeatable: true,
    send: ({ client }, options) => client.request(methods.getSkill.name, { uri }, options),
    finish: ({ value }) => {
      const shown = expose(checkSkill(value['skill'], uri));
      if (shown === undefined) return undefined;
      const cache = cacheHintOf(value);
      const isPrivate = target.upstream.config.isolation !== 'shared';
      return { skill: shown, cache: cache && (isPrivate ? { ...cache, cacheScope: 'private' } : cache) };
    },
    failed: throwTo(target, ctx, unknown),
  });
}

/** Throws unless it is the valid entry of the skill that was asked for. */
function checkSkill(skill: unknown, uri: string): Skill {
  const problem = skillProblem(skill) ?? hiddenProblem(skill as Skill);
  if (problem !== undefined) throw new ClientError('invalid-result', `The skill is not valid: ${problem}`);
  const found = skill as Skill;
  if (found.uri !== uri) throw new ClientError('invalid-result', 'It is another skill than was asked for');
  const { _meta, ...rest } = found;
  return isObject(_meta) ? withPlainMeta(found) : rest;
}

/** Reads all pages of a folder. */
export function readDirectory(
  target: RelayTarget,
  { uri, exposed }: RequestedUri,
  expose: ExposeUri,
  ctx: Context,
): Promise<readonly Resource[]> {
  const list = { method: methods.readDirectory.name, params: { uri }, member: 'resources' };
  return relay<readonly unknown[], readonly Resource[]>(target, ctx, {
    isRepeatable: true,
    send: ({ client }, options) => readPages(client, list, options),
    finish: ({ value }) => value.filter(isResource).map((each) => mapResource(each, expose)),
    failed: throwTo(target, ctx, wireErrors.notAFolder(exposed)),
  });
}

function isResource(value: unknown): value is Resource {
  return isObject(value) && typeof value['uri'] === 'string' && typeof value['name'] === 'string';
}

function mapResource(resource: Resource, expose: ExposeUri): Resource {
  return withPlainMeta({ ...cleanResource(resource), uri: expose(resource.uri) });
}

/** Throws what the client gets for a failure. `unknown`: if the upstream does not have it. */
function throwTo({ upstream }: RelayTarget, ctx: Context, unknown: Error): (error: unknown) => never {
  return (error) => {
    upstream.failed(error, callerKeys(ctx));
    if (error instanceof ClientError && unknownCodes.includes(error.serverError?.code)) throw unknown;
    throw toWireError(error, upstream.config, ctx);
  };
}
