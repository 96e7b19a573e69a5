// A client on revisions that start with `initialize`: it declares identity and capabilities once, and the server may
// send requests.

import { isObject } from '../json-rpc.ts';
import type { Capabilities, Implementation } from '../model.ts';
import type { ClientCodec } from './client-codec.ts';
import { join, metaMembers, requestWith, sharedMembers } from './client-codec-base.ts';
import { type ClientDialect, encodeCapabilities } from './client-dialects.ts';
import { pick } from './content.ts';

const complete = { kind: 'complete' } as const;
const none: readonly string[] = [];

export function createClientHandshakeCodec(
  dialect: ClientDialect,
  identity: Implementation,
  capabilities: Capabilities,
): ClientCodec {
  const { date, implementation } = dialect.shared;
  return {
    ...sharedMembers(dialect),
    opening: 'initialize',
    inputRequests: 'push',
    declaresPerRequest: false,
    http: {
      headers: dialect.versionHeader ? ['MCP-Protocol-Version', date] : none,
      mirrored: false,
      sessions: true,
      closingCancels: false,
    },
    request(id, method, fields, meta) {
      if (meta === undefined) return requestWith(id, method, fields);
      const members = metaMembers(meta, false);
      return requestWith(id, method, members === '' ? fields : join(fields, `"_meta":{${members}}`));
    },
    openingFields() {
      const params = {
        protocolVersion: date,
        capabilities: withImpliedForms(encodeCapabilities(capabilities, dialect)),
        clientInfo: pick(identity, implementation),
      };
      return JSON.stringify(params).slice(1, -1);
    },
    // These revisions have only complete results, whatever else a result contains.
    decodeResult: () => complete,
    headers: () => none,
    listenFields: () => '',
  };
}

/**
 * Some servers of older revisions reject members of `elicitation`, which were added in 2025-11-25. Without any it means forms
 * (2025-11-25, Elicitation, "Capabilities").
 */
function withImpliedForms(capabilities: Capabilities): Capabilities {
  const { elicitation } = capabilities;
  const hasOnlyForms = isObject(elicitation) && Object.keys(elicitation).join() === 'form';
  return hasOnlyForms ? { ...capabilities, elicitation: {} } : capabilities;
}
