// Revisions that start with `initialize`: facts about the client are negotiated once, responses need no envelope, and
// a server may send requests.

import { hasReservedKeys } from '../meta.ts';
import type { Implementation, Meta } from '../model.ts';
import type { ResolvedRules } from '../rules.ts';
import type { Codec, ServerDescription } from './codec.ts';
import { createCodec } from './codec-base.ts';
import { pick } from './content.ts';
import type { Dialect } from './dialects.ts';
import { asExtension } from './extensions.ts';

export function createHandshakeCodec(dialect: Dialect, identity: Implementation, rules: ResolvedRules): Codec {
  return createCodec(dialect, rules, {
    inputRequests: 'push',
    serverDescription: (description) => describeServer(description, dialect, identity),
    close,
    passOn: (text, meta) => (hasReservedKeys(meta) ? undefined : text),
    codes: {
      ...(rules.resourceNotFound === 'invalidParams' ? { resourceNotFound: -32602 } : {}),
      ...(rules.unknownTool === 'methodNotFound' ? { unknownTool: -32601 } : {}),
      // Only revisions with URL elicitation have a code that requires it.
      ...(dialect.elicitationId ? {} : { urlElicitationRequired: -32603 }),
      // These revisions lack the error codes of stateless requests; generic codes with a clear message replace them.
      missingCapability: -32602,
      unsupportedVersion: -32602,
      headerMismatch: -32600,
    },
    statuses: { parse: 400, invalidRequest: 400, unsupportedVersion: 400, headerMismatch: 400 },
  });
}

function close(fields: string, meta: Meta | undefined): string {
  if (meta === undefined) return `{${fields}}`;
  return fields === '' ? `{"_meta":${JSON.stringify(meta)}}` : `{${fields},"_meta":${JSON.stringify(meta)}}`;
}

function describeServer(
  { capabilities, instructions }: ServerDescription,
  dialect: Dialect,
  identity: Implementation,
): string {
  // Keys outside the protocol (experimental, extensions, a vendor's) are passed on unchanged.
  const known = ['tools', 'prompts', 'resources', 'logging', 'completions', 'tasks', 'skills'];
  const all = dialect.requests.includes('skills/list') ? asExtension(capabilities, 'skills') : capabilities;
  const declared = Object.fromEntries(
    Object.entries(all).filter(([key]) => !known.includes(key) || dialect.serverCapabilities.includes(key)),
  );
  return JSON.stringify({
    protocolVersion: dialect.date,
    capabilities: declared,
    serverInfo: pick(identity, dialect.implementation),
    ...(instructions === undefined ? {} : { instructions }),
  });
}
