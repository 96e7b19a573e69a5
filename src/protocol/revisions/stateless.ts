// Stateless revisions: every request names its revision, client and capabilities, and every result has a type and
// names the server.

import { metaKeys } from '../meta.ts';
import type { CacheHint, Implementation, Meta } from '../model.ts';
import { type ResolvedRules, resolveRules } from '../rules.ts';
import type { Codec, ServerDescription } from './codec.ts';
import { createCodec } from './codec-base.ts';
import { pick } from './content.ts';
import type { Dialect } from './dialects.ts';
import { asExtension } from './extensions.ts';

/** A profile only changes how calls are executed here; everything on the wire follows the official rules. */
function officialRules(rules: ResolvedRules): ResolvedRules {
  return { ...resolveRules(), concurrency: rules.concurrency, timeoutMs: rules.timeoutMs };
}

/** A hint as whole milliseconds from 0 (2026-07-28, Caching). Handlers compute them, so that they can be negative or Infinity. */
function encodeHint({ ttlMs, cacheScope }: CacheHint): string {
  const whole = ttlMs > 0 ? Math.min(Math.floor(ttlMs), Number.MAX_SAFE_INTEGER) : 0;
  return `"ttlMs":${whole},"cacheScope":"${cacheScope === 'public' ? 'public' : 'private'}"`;
}

export function createStatelessCodec(dialect: Dialect, identity: Implementation, rules: ResolvedRules): Codec {
  const serverInfo = pick(identity, dialect.implementation);
  const plainMeta = `"_meta":${JSON.stringify({ [metaKeys.serverInfo]: serverInfo })}`;
  const complete = `,"resultType":"complete",${plainMeta}}`;

  function close(fields: string, meta: Meta | undefined, cache: CacheHint | undefined): string {
    if (meta === undefined && cache === undefined && fields !== '') {
      return fields.startsWith('"resultType"') ? `{${fields},${plainMeta}}` : `{${fields}${complete}`;
    }
    const parts = fields === '' ? [] : [fields];
    parts.push('"resultType":"complete"');
    if (cache !== undefined) parts.push(encodeHint(cache));
    parts.push(
      meta === undefined ? plainMeta : `"_meta":${JSON.stringify({ ...meta, [metaKeys.serverInfo]: serverInfo })}`,
    );
    return `{${parts.join(',')}}`;
  }

  /** The result names us instead of the server that it comes from. */
  function passOn(text: string, meta: Meta | undefined): string | undefined {
    if (!text.endsWith('}') || text.length < 3) return undefined;
    if (meta === undefined) return `${text.slice(0, -1)},${plainMeta}}`;
    if (Object.keys(meta).length !== 1 || meta[metaKeys.serverInfo] === undefined) return undefined;
    const tail = `,"_meta":${JSON.stringify(meta)}}`;
    return text.endsWith(tail) ? `${text.slice(0, -tail.length)},${plainMeta}}` : undefined;
  }

  function serverDescription({ capabilities, instructions, cache, versions }: ServerDescription): string {
    const fields = JSON.stringify({
      supportedVersions: versions,
      capabilities: asExtension(asExtension(capabilities, 'tasks', {}), 'skills'),
      ...(instructions === undefined ? {} : { instructions }),
    });
    return close(fields.slice(1, -1), undefined, cache);
  }

  return createCodec(dialect, officialRules(rules), {
    inputRequests: 'retry',
    serverDescription,
    close,
    passOn,
    codes: {
      resourceNotFound: -32602,
      urlElicitationRequired: -32603,
      rateLimited: 429,
      overloaded: 503,
      forbidden: 403,
      application: 500,
      transport: -32600,
    },
    statuses: {
      parse: 400,
      invalidRequest: 400,
      notAcceptable: 406,
      invalidEnvelope: 400,
      methodNotFound: 404,
      headerMismatch: 400,
      missingCapability: 400,
      unsupportedVersion: 400,
      rateLimited: 429,
      overloaded: 503,
      forbidden: 403,
    },
  });
}
