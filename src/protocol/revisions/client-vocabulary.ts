// Everything one client can speak, and how it finds out what a server does: reading the answers that open a
// conversation, and what an error says about revisions. Rules: which error means which era.

import { errorRows } from '../errors.ts';
import { isObject, type JsonRpcErrorObject } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import type { Capabilities, Implementation } from '../model.ts';
import type { Dialect, ServerFacts } from './client-dialect.ts';
import { createHandshakeDialect } from './client-handshake.ts';
import { clientHandshakeSpellings, clientStatelessSpellings } from './client-spelling.ts';
import { createStatelessDialect } from './client-stateless.ts';
import { isStatelessDate } from './spelling.ts';

export type {
  Dialect,
  HttpManners,
  InputRequest,
  ListenFilter,
  Reading,
  RequestMeta,
  ServerFacts,
} from './client-dialect.ts';

type Fields = { readonly [key: string]: unknown };

/** What an opening answer came to. */
export type Opened =
  | { readonly ok: true; readonly dialect: Dialect; readonly facts: ServerFacts }
  | { readonly ok: false; readonly why: string };

/** What a refused probe tells: speak another stateless revision, none in common, or open with a handshake. */
export type Hint =
  | { readonly kind: 'retry'; readonly dialect: Dialect }
  | { readonly kind: 'no-overlap'; readonly supported: readonly string[] }
  | { readonly kind: 'stateless' }
  | { readonly kind: 'handshake' };

/** Names of all revisions, oldest first. */
export const revisions: readonly string[] = [...clientHandshakeSpellings, ...clientStatelessSpellings].map(
  ({ shared }) => shared.date,
);

/** The dialects a client may use. */
export class ClientVocabulary {
  /** Newest first. */
  readonly handshake: readonly Dialect[];
  readonly stateless: readonly Dialect[];

  /** Throws a `TypeError` when `enabled` names something that is no revision. */
  constructor(identity: Implementation, capabilities: Capabilities, enabled: readonly string[] = revisions) {
    const unknown = enabled.filter((each) => !revisions.includes(each));
    if (unknown.length > 0) {
      throw new TypeError(`${unknown.join(', ')} is not a revision; there are ${revisions.join(', ')}`);
    }
    const wanted = ({ shared }: { shared: { date: string } }): boolean => enabled.includes(shared.date);
    this.handshake = clientHandshakeSpellings
      .filter(wanted)
      .map((each) => createHandshakeDialect(each, identity, capabilities))
      .reverse();
    this.stateless = clientStatelessSpellings
      .filter(wanted)
      .map((each) => createStatelessDialect(each, identity, capabilities))
      .reverse();
  }

  /** Reads what `initialize` was answered. Any enabled revision will do, whichever was offered. */
  readInitialize(result: Fields): Opened {
    const { protocolVersion, capabilities, serverInfo, instructions } = result;
    if (typeof protocolVersion !== 'string') return { ok: false, why: 'the answer names no protocolVersion' };
    const dialect = this.handshake.find(({ date }) => date === protocolVersion);
    if (dialect === undefined) {
      const mine = this.handshake.map(({ date }) => date).join(', ');
      return { ok: false, why: `the server speaks ${clip(protocolVersion)}, this client ${mine}` };
    }
    return { ok: true, dialect, facts: toFacts(capabilities, serverInfo, instructions) };
  }

  /** Reads what `server/discover` was answered: the newest revision both sides know. */
  readDiscover(result: Fields): Opened {
    const { supportedVersions, capabilities, instructions, _meta: meta } = result;
    if (!Array.isArray(supportedVersions) || !isObject(capabilities)) {
      return { ok: false, why: 'the answer is not a DiscoverResult' };
    }
    const dialect = this.stateless.find(({ date }) => supportedVersions.includes(date));
    if (dialect === undefined) return { ok: false, why: `the server speaks ${names(supportedVersions)}` };
    const serverInfo = isObject(meta) ? meta[metaKeys.serverInfo] : undefined;
    return { ok: true, dialect, facts: toFacts(capabilities, serverInfo, instructions) };
  }

  /** What an error in answer to a probe says about the server. Only errors of the stateless era are told by code. */
  hint(error: JsonRpcErrorObject): Hint {
    if (error.code === errorRows.headerMismatch.code || error.code === errorRows.missingCapability.code) {
      return { kind: 'stateless' };
    }
    if (error.code !== errorRows.unsupportedVersion.code) return { kind: 'handshake' };
    const listed = isObject(error.data) ? error.data['supported'] : undefined;
    const supported = Array.isArray(listed) ? listed.filter((each) => typeof each === 'string') : [];
    // Also where it is the one just refused: the server lists it itself, so asking once more is worth it.
    const dialect = this.stateless.find(({ date }) => supported.includes(date));
    if (dialect !== undefined) return { kind: 'retry', dialect };
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
