// initialize, ping, and server/discover for stateless clients.

import { wireErrors } from '../../protocol/errors.ts';
import { isObject, type Params } from '../../protocol/json-rpc.ts';
import type { Capabilities, Implementation } from '../../protocol/model.ts';
import { Session } from '../channels/session.ts';
import type { Call, Feature } from '../contract.ts';
import { withTasksOf } from '../tasks/clients/declared-tasks.ts';

/** Opens the session of a channel, with the client's revision if it is enabled, otherwise with the newest enabled one. */
export const initialize: Feature<Session> = {
  run(call) {
    const { protocolVersion, clientInfo, capabilities } = call.params;
    const problem = call.codec.rules.lenientInitialize ? undefined : checkInitialize(call);
    if (problem !== undefined) throw wireErrors.invalidParams(problem);
    const codec = call.server.revisions.negotiate(protocolVersion);
    if (codec === undefined) {
      throw wireErrors.unsupportedVersion(protocolVersion ?? null, call.server.revisions.statelessVersions);
    }
    const client = {
      ...(isObject(clientInfo) ? { clientInfo: withoutIcons(clientInfo) } : {}),
      capabilities: isObject(capabilities) ? (capabilities as Capabilities) : {},
    };
    const { maxClientLength } = call.server.limits;
    if (JSON.stringify(client).length > maxClientLength) {
      throw wireErrors.invalidParams(`clientInfo and capabilities must have at most ${maxClientLength} characters`);
    }
    const session = new Session(codec, { key: call.channel.key, ...client });
    // Middleware may have waited, and another initialize may have come first.
    if (call.channel.session !== undefined) throw wireErrors.alreadyInitialized();
    call.channel.open(session);
    return session;
  },
  encode: (session, call) => session.codec.serverDescription(describeServer(call)),
};

/** Icons may be whole images (data URIs), and no session needs them. */
function withoutIcons({ icons: _icons, ...info }: Params): Implementation {
  return info as unknown as Implementation;
}

function checkInitialize({ params }: Call): string | undefined {
  if (typeof params['protocolVersion'] !== 'string') return '"protocolVersion" is required and must be a string';
  if (!isObject(params['capabilities'])) return '"capabilities" is required and must be an object';
  return isObject(params['clientInfo']) ? undefined : '"clientInfo" is required and must be an object';
}

export const ping: Feature<undefined> = {
  run: () => undefined,
  encode: (_result, { codec }) => codec.empty(),
};

export const discover: Feature<undefined> = {
  run: () => undefined,
  encode: (_result, call) => call.codec.serverDescription(describeServer(call)),
};

function describeServer(call: Call): Parameters<Call['codec']['serverDescription']>[0] {
  const { server, peer } = call;
  // `initialize` has opened its session by now.
  const caller = { principal: peer.principal, session: call.session ?? call.channel.session };
  const instructions = server.instructionsFor(caller);
  return {
    capabilities: withTasksOf(peer, caller, server),
    ...(instructions === undefined ? {} : { instructions }),
    cache: server.listCache,
    versions: server.revisions.statelessVersions,
  };
}
