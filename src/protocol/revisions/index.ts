// Picks the revision that speaks: by the claim a message makes itself, or by what `initialize` settled. The only
// place, with its neighbours in this folder, that knows which revisions there are.

import { type WireError, wireErrors } from '../errors.ts';
import type { ReadHeader, Route } from '../exchange.ts';
import { isObject, type JsonRpcNotification, type JsonRpcRequest, type Params, sortMessage } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import { type Implementation, logLevels } from '../model.ts';
import { type Rules, settleRules } from '../rules.ts';
import { createHandshakeCodec } from './handshake.ts';
import { checkNotificationHeaders, checkPresentHeaders, checkRequiredHeaders } from './headers.ts';
import type { Revision } from './revision.ts';
import { assumedDate, handshakeSpellings, isStatelessDate, statelessSpellings } from './spelling.ts';
import { createStatelessCodec } from './stateless.ts';

export { checkParamHeaders, decodeHeaderValue, encodeHeaderValue, type HeaderParam, headerParams } from './headers.ts';
export type { Change, Listed, Revision, Welcome } from './revision.ts';
export { isWrapped } from './structured.ts';

/** Names of the handshake revisions, oldest first. */
export const handshakeRevisions: readonly string[] = handshakeSpellings.map((each) => each.date);
/** Names of the stateless revisions, oldest first. */
export const statelessRevisions: readonly string[] = statelessSpellings.map((each) => each.date);

/** Everything one server can speak. Codecs are made once, when first needed. */
export class Vocabulary {
  readonly #identity: Implementation;
  readonly #rules: ReturnType<typeof settleRules>;
  readonly #handshake = new Map<string, Revision>();
  readonly #stateless = new Map<string, Revision>();
  /** What `initialize` may answer, oldest first. */
  readonly handshakeVersions: readonly string[];

  constructor(identity: Implementation, rules: Rules = {}) {
    this.#identity = identity;
    this.#rules = settleRules(rules);
    this.handshakeVersions = rules.handshakeVersions ?? handshakeRevisions;
    const unknown = this.handshakeVersions.filter((each) => !handshakeRevisions.includes(each));
    if (unknown.length > 0) {
      throw new TypeError(
        `handshakeVersions: ${unknown.join(', ')} is not a handshake revision; use some of ${handshakeRevisions.join(', ')}`,
      );
    }
  }

  get statelessVersions(): readonly string[] {
    return statelessRevisions;
  }

  /** The codec of an enabled handshake revision. */
  handshake(date: string): Revision | undefined {
    let codec = this.#handshake.get(date);
    if (codec === undefined && this.handshakeVersions.includes(date)) {
      const spelling = handshakeSpellings.find((each) => each.date === date);
      if (spelling === undefined) return undefined;
      codec = createHandshakeCodec(spelling, this.#identity, this.#rules);
      this.#handshake.set(date, codec);
    }
    return codec;
  }

  stateless(date: string): Revision | undefined {
    let codec = this.#stateless.get(date);
    if (codec === undefined) {
      const spelling = statelessSpellings.find((each) => each.date === date);
      if (spelling === undefined) return undefined;
      codec = createStatelessCodec(spelling, this.#identity, this.#rules);
      this.#stateless.set(date, codec);
    }
    return codec;
  }

  /** What `initialize` settles on: the client's wish where it is enabled, otherwise the newest we have. */
  negotiate(wish: unknown): Revision | undefined {
    const newest = this.handshakeVersions.at(-1);
    if (newest === undefined) return undefined;
    return (typeof wish === 'string' ? this.handshake(wish) : undefined) ?? this.handshake(newest);
  }

  /** Speaks where nothing is settled yet: errors before any revision is known. */
  get unsettled(): Revision {
    const oldest = this.handshakeVersions[0];
    const codec = oldest === undefined ? this.stateless(statelessRevisions[0] as string) : this.handshake(oldest);
    return codec as Revision;
  }

  /** Speaks where no body was read: by the version header, which then is all there is to go by. */
  speakerFor(header: ReadHeader): Revision {
    const said = header('mcp-protocol-version')?.trim();
    return said !== undefined && isStatelessDate(said) ? this.newest : this.unsettled;
  }

  /** Speaks to requests that claim to stand alone but can not be served as they claim. */
  get newest(): Revision {
    return this.stateless(statelessRevisions.at(-1) as string) as Revision;
  }

  /** The handshake revision spoken where neither session nor header names one; undefined when none is enabled. */
  get assumedVersion(): string | undefined {
    return this.handshakeVersions.includes(assumedDate) ? assumedDate : this.handshakeVersions[0];
  }

  /**
   * How a message is to be served where connections are no sessions. The body decides; a header that names a
   * revision without sessions decides where the body makes no claim.
   */
  route(value: unknown, header: ReadHeader): Route {
    if (Array.isArray(value)) {
      return this.handshakeVersions.length === 0 || value.some((each) => this.claims(each?.params))
        ? 'alone'
        : 'session';
    }
    const { jsonrpc, method, params } = (value ?? {}) as JsonRpcRequest;
    if (method === 'initialize') {
      const { kind, message } = sortMessage(value) as { kind: string; message: JsonRpcRequest };
      return kind === 'request' && this.classify(message, header) === undefined ? 'opening' : 'alone';
    }
    if (this.claims(params) || this.handshakeVersions.length === 0) return 'alone';
    const said = header('mcp-protocol-version');
    if (said !== undefined && !this.handshakeVersions.includes(said) && isStatelessDate(said.trim())) return 'alone';
    // The commonest shape, told at a glance; what is no message at all is refused where sessions do not matter.
    if (jsonrpc === '2.0' && typeof method === 'string' && (params === undefined || isObject(params))) return 'session';
    return sortMessage(value).kind === 'refused' ? 'alone' : 'session';
  }

  /**
   * Decides who speaks for a request. A revision: the request stands alone and speaks it. Undefined: it belongs to
   * the handshake session of its channel. An error: it is refused. The body decides; headers are only cross-checked,
   * or decide where the body makes no claim.
   */
  classify(request: JsonRpcRequest, header: ReadHeader | undefined): Revision | WireError | undefined {
    const meta = request.params?.['_meta'];
    if (!isObject(meta) || meta[metaKeys.protocolVersion] === undefined) {
      if (this.handshakeVersions.length === 0) return this.#unserved(request, header);
      return header === undefined ? undefined : this.#unclaimed(request, header);
    }
    const version = meta[metaKeys.protocolVersion];
    const codec = typeof version === 'string' ? this.stateless(version) : undefined;
    if (request.method === 'initialize' && codec === undefined && !isUnknownVersion(version)) return undefined;
    const flaw = checkEnvelope(meta);
    if (flaw !== undefined) return request.method === 'initialize' ? undefined : wireErrors.envelope(flaw);
    const disagreement = header && checkPresentHeaders(request, version as string, header);
    if (disagreement) return disagreement;
    if (codec === undefined) return wireErrors.unsupportedVersion(version, statelessRevisions);
    return (header && checkRequiredHeaders(request, header)) ?? codec;
  }

  /** What headers say against a notification that came with them. */
  contradiction(notification: JsonRpcNotification, header: ReadHeader): WireError | undefined {
    const meta = notification.params?.['_meta'];
    return checkNotificationHeaders(notification, isObject(meta) ? meta[metaKeys.protocolVersion] : undefined, header);
  }

  #unclaimed(request: JsonRpcRequest, header: ReadHeader): WireError | undefined {
    const said = header('mcp-protocol-version')?.trim();
    if (said === undefined || !isStatelessDate(said)) return undefined;
    if (request.method === 'initialize') {
      return wireErrors.headerMismatch(
        `MCP-Protocol-Version ${said} has no initialize; claim it in params._meta of each request instead`,
      );
    }
    return wireErrors.envelope(lacksClaim(said));
  }

  /** What to tell a client of the handshake era where none of its revisions is enabled. */
  #unserved(request: JsonRpcRequest, header: ReadHeader | undefined): WireError {
    if (request.method === 'initialize') {
      return wireErrors.unsupportedVersion(request.params?.['protocolVersion'] ?? null, statelessRevisions);
    }
    const said = header?.('mcp-protocol-version')?.trim();
    if (said !== undefined && !isStatelessDate(said)) return wireErrors.unsupportedVersion(said, statelessRevisions);
    if (header !== undefined && said === undefined) return wireErrors.headerMismatch('MCP-Protocol-Version is missing');
    return wireErrors.envelope(lacksClaim(said ?? statelessRevisions.at(-1)));
  }

  /** True when a message, unlike its header, makes a claim of its own. */
  claims(params: Params | null | undefined): boolean {
    const meta = params?.['_meta'];
    return isObject(meta) && meta[metaKeys.protocolVersion] !== undefined;
  }
}

function lacksClaim(version: string | undefined): string {
  return `params._meta lacks ${metaKeys.protocolVersion} and ${metaKeys.clientCapabilities}, which ${version} requires`;
}

function isUnknownVersion(version: unknown): boolean {
  return typeof version === 'string' && !handshakeRevisions.includes(version);
}

/** Says what is wrong with the `_meta` of a request that claims to stand alone. */
function checkEnvelope(meta: Params): string | undefined {
  if (typeof meta[metaKeys.protocolVersion] !== 'string') return `_meta ${metaKeys.protocolVersion} must be a string`;
  const capabilities = meta[metaKeys.clientCapabilities];
  if (!isObject(capabilities)) return `_meta ${metaKeys.clientCapabilities} is required and must be an object`;
  const info = meta[metaKeys.clientInfo];
  if (
    info !== undefined &&
    !(isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string')
  ) {
    return `_meta ${metaKeys.clientInfo} must have a name and a version`;
  }
  const level = meta[metaKeys.logLevel];
  if (level !== undefined && !(logLevels as readonly unknown[]).includes(level)) {
    return `_meta ${metaKeys.logLevel} must be one of ${logLevels.join(', ')}`;
  }
  return undefined;
}
