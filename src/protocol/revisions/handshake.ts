// Revisions that start with `initialize`: facts about the client are negotiated once, responses need no envelope, and
// a server may send requests.

import type { Implementation, Meta } from '../model.ts';
import type { ResolvedRules } from '../rules.ts';
import type { Codec, ServerDescription } from './codec.ts';
import { createCodec } from './codec-base.ts';
import { pick } from './content.ts';
import type { Dialect } from './dialects.ts';

export function createHandshakeCodec(spelling: Dialect, identity: Implementation, rules: ResolvedRules): Codec {
  return createCodec(spelling, rules, {
    asks: 'push',
    greeting: (welcome) => greet(welcome, spelling, identity),
    close,
    codes: {
      ...(rules.resourceNotFound === 'invalidParams' ? { resourceNotFound: -32602 } : {}),
      ...(rules.unknownTool === 'methodNotFound' ? { unknownTool: -32601 } : {}),
      // Only revisions with URL elicitation have a code that requires it.
      ...(spelling.elicitationId ? {} : { urlElicitationRequired: -32603 }),
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

function greet({ capabilities, instructions }: ServerDescription, spelling: Dialect, identity: Implementation): string {
  // Keys outside the protocol (experimental, extensions, a vendor's) are passed on unchanged.
  const known = ['tools', 'prompts', 'resources', 'logging', 'completions', 'tasks'];
  const declared = Object.fromEntries(
    Object.entries(capabilities).filter(([key]) => !known.includes(key) || spelling.serverCapabilities.includes(key)),
  );
  return JSON.stringify({
    protocolVersion: spelling.date,
    capabilities: declared,
    serverInfo: pick(identity, spelling.implementation),
    ...(instructions === undefined ? {} : { instructions }),
  });
}
