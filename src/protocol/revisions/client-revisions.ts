// All revisions one client supports, and negotiation: decoding the responses that start a conversation, and what an
// error says about the revisions of a server.

import { errorRows } from '../errors.ts';
import { isObject, type JsonRpcErrorObject } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import type { Capabilities, Implementation, JsonObject } from '../model.ts';
import type { ClientCodec, ServerFacts } from './client-codec.ts';
import { clientHandshakeDialects, clientStatelessDialects } from './client-dialects.ts';
import { createClientHandshakeCodec } from './client-handshake.ts';
import { createClientStatelessCodec } from './client-stateless.ts';
import { isStatelessDate } from './dialects.ts';

export type {
  ClientCodec,
  DecodedResult,
  HttpBinding,
  ListenFilter,
  RequestMeta,
  ServerFacts,
  TaskDialect,
  WireInputRequest,
} from './client-codec.ts';

/** The decoded response to an opening request. */
export type Opened =
  | { readonly ok: true; readonly codec: ClientCodec; readonly facts: ServerFacts }
  | { readonly ok: false; readonly why: string };

/** What a rejected probe shows: use another stateless revision, none in common, or start with a handshake. */
export type VersionHint =
  | { readonly kind: 'retry'; readonly codec: ClientCodec }
  | { readonly kind: 'no-overlap'; readonly supported: readonly string[] }
  | { readonly kind: 'stateless' }
  | { readonly kind: 'handshake' };

/** Names of all revisions, oldest first. */
export const revisions: readonly string[] = [...clientHandshakeDialects, ...clientStatelessDialects].map(
  ({ shared }) => shared.date,
);

/** The codecs that a client may use. */
export class ClientRevisions {
  /** Newest first. */
  readonly handshake: readonly ClientCodec[];
  readonly stateless: readonly ClientCodec[];

  /** Throws a `TypeError` when `enabled` contains something that is not a revision. */
  constructor(identity: Implementation, capabilities: Capabilities, enabled: readonly string[] = revisions) {
    const unknown = enabled.filter((each) => !revisions.includes(each));
    if (unknown.length > 0) {
      throw new TypeError(`${unknown.join(', ')} is not a revision; use one of ${revisions.join(', ')}`);
    }
    const wanted = ({ shared }: { shared: { date: string } }): boolean => enabled.includes(shared.date);
    this.handshake = clientHandshakeDialects
      .filter(wanted)
      .map((each) => createClientHandshakeCodec(each, identity, capabilities))
      .reverse();
    this.stateless = clientStatelessDialects
      .filter(wanted)
      .map((each) => createClientStatelessCodec(each, identity, capabilities))
      .reverse();
  }

  /** Decodes the response to `initialize`. Any enabled revision is accepted, whichever was offered. */
  readInitialize(result: JsonObject): Opened {
    const { protocolVersion, capabilities, serverInfo, instructions } = result;
    if (typeof protocolVersion !== 'string') return { ok: false, why: 'the response has no protocolVersion' };
    const codec = this.handshake.find(({ date }) => date === protocolVersion);
    if (codec === undefined) {
      const mine = this.handshake.map(({ date }) => date).join(', ');
      return { ok: false, why: `the server uses revision ${clip(protocolVersion)}, this client supports ${mine}` };
    }
    return { ok: true, codec, facts: toFacts(capabilities, serverInfo, instructions) };
  }

  /** Decodes the response to `server/discover`: picks the newest revision that both sides support. */
  readDiscover(result: JsonObject): Opened {
    const { supportedVersions, capabilities, instructions, _meta: meta } = result;
    if (!Array.isArray(supportedVersions) || !isObject(capabilities)) {
      return { ok: false, why: 'the response is not a DiscoverResult' };
    }
    const codec = this.stateless.find(({ date }) => supportedVersions.includes(date));
    if (codec === undefined) return { ok: false, why: `the server supports only ${names(supportedVersions)}` };
    const serverInfo = isObject(meta) ? meta[metaKeys.serverInfo] : undefined;
    return { ok: true, codec, facts: toFacts(capabilities, serverInfo, instructions) };
  }

  /** What an error response to a probe shows about the server. Only stateless servers are recognized by error code. */
  hint(error: JsonRpcErrorObject): VersionHint {
    if (error.code === errorRows.headerMismatch.code || error.code === errorRows.missingCapability.code) {
      return { kind: 'stateless' };
    }
    if (error.code !== errorRows.unsupportedVersion.code) return { kind: 'handshake' };
    const listed = isObject(error.data) ? error.data['supported'] : undefined;
    const supported = Array.isArray(listed) ? listed.filter((each) => typeof each === 'string') : [];
    // Also if it is the one just rejected: the server lists it itself, so one more attempt is worthwhile.
    const codec = this.stateless.find(({ date }) => supported.includes(date));
    if (codec !== undefined) return { kind: 'retry', codec };
    return supported.some(isStatelessDate) ? { kind: 'no-overlap', supported } : { kind: 'handshake' };
  }
}

function toFacts(capabilities: unknown, serverInfo: unknown, instructions: unknown): ServerFacts {
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo:
      isObject(serverInfo) && typeof serverInfo['name'] === 'string'
        ? (serverInfo as unknown as Implementation)
        : undefined,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

function names(list: readonly unknown[]): string {
  return list.length === 0 ? 'no revision' : clip(list.map(String).join(', '));
}

function clip(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
