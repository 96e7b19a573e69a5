// Picks the codec for a message: by the revision the message names, or by what `initialize` negotiated. Only this
// folder knows which revisions exist.

import { type WireError, wireErrors } from '../errors.ts';
import type { MessageRoute, ReadHeader } from '../exchange.ts';
import { classifyMessage, isObject, type JsonRpcNotification, type JsonRpcRequest, type Params } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import { type Implementation, logLevels } from '../model.ts';
import { type Rules, resolveRules } from '../rules.ts';
import type { Codec } from './codec.ts';
import { assumedDate, handshakeDialects, isStatelessDate, statelessDialects } from './dialects.ts';
import { createHandshakeCodec } from './handshake.ts';
import { checkNotificationHeaders, checkPresentHeaders, checkRequiredHeaders } from './headers.ts';
import { createStatelessCodec } from './stateless.ts';

export type { ChangeNotification, Codec, ListItemTypes } from './codec.ts';
export { declaresTasks, extensionSettings, skillsExtension, tasksExtension } from './extensions.ts';
export { checkParamHeaders, type HeaderParam, headerParams } from './headers.ts';
export { eitherSchema } from './structured.ts';

/** Names of the handshake revisions, oldest first. */
export const handshakeRevisions: readonly string[] = handshakeDialects.map((each) => each.date);
/** Names of the stateless revisions, oldest first. */
export const statelessRevisions: readonly string[] = statelessDialects.map((each) => each.date);

/** The revisions one server supports. Codecs are created once, when first needed. */
export class ServerRevisions {
  readonly #identity: Implementation;
  readonly #rules: ReturnType<typeof resolveRules>;
  readonly #handshake = new Map<string, Codec>();
  readonly #stateless = new Map<string, Codec>();
  /** What `initialize` may return, oldest first. */
  readonly handshakeVersions: readonly string[];

  constructor(identity: Implementation, rules: Rules = {}) {
    this.#identity = identity;
    this.#rules = resolveRules(rules);
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
  handshake(date: string): Codec | undefined {
    let codec = this.#handshake.get(date);
    if (codec === undefined && this.handshakeVersions.includes(date)) {
      const dialect = handshakeDialects.find((each) => each.date === date);
      if (dialect === undefined) return undefined;
      codec = createHandshakeCodec(dialect, this.#identity, this.#rules);
      this.#handshake.set(date, codec);
    }
    return codec;
  }

  stateless(date: string): Codec | undefined {
    let codec = this.#stateless.get(date);
    if (codec === undefined) {
      const dialect = statelessDialects.find((each) => each.date === date);
      if (dialect === undefined) return undefined;
      codec = createStatelessCodec(dialect, this.#identity, this.#rules);
      this.#stateless.set(date, codec);
    }
    return codec;
  }

  /** The result of negotiation: the version the client requested if it is enabled, otherwise the newest enabled one. */
  negotiate(requested: unknown): Codec | undefined {
    const newest = this.handshakeVersions.at(-1);
    if (newest === undefined) return undefined;
    return (typeof requested === 'string' ? this.handshake(requested) : undefined) ?? this.handshake(newest);
  }

  /** Used before a revision is known, for early errors. */
  get defaultCodec(): Codec {
    const oldest = this.handshakeVersions[0];
    const codec = oldest === undefined ? this.stateless(statelessRevisions[0] as string) : this.handshake(oldest);
    return codec as Codec;
  }

  /** Used where no body was read: the version header is the only clue. */
  codecForHeader(header: ReadHeader): Codec {
    const headerVersion = header('mcp-protocol-version')?.trim();
    return headerVersion !== undefined && isStatelessDate(headerVersion) ? this.newestStateless : this.defaultCodec;
  }

  /** For the error of what is not a valid message, or a batch: it names its revision, or its header does. Undefined: neither. */
  codecForInvalid(value: unknown, header: ReadHeader | undefined): Codec | undefined {
    const messages = Array.isArray(value) ? value : [value];
    if (messages.some((each) => this.namesRevision(each?.params))) return this.newestStateless;
    const headerVersion = header?.('mcp-protocol-version')?.trim();
    if (headerVersion === undefined) return undefined;
    return isStatelessDate(headerVersion) ? this.newestStateless : this.handshake(headerVersion);
  }

  /** Used for stateless requests that cannot be served as they claim. */
  get newestStateless(): Codec {
    return this.stateless(statelessRevisions.at(-1) as string) as Codec;
  }

  /** The handshake revision used where neither session nor header names one; undefined when none is enabled. */
  get assumedVersion(): string | undefined {
    return this.handshakeVersions.includes(assumedDate) ? assumedDate : this.handshakeVersions[0];
  }

  /**
   * How a message is handled where connections are not sessions. The body decides; if it names no revision, a header
   * that names a revision without sessions decides.
   */
  route(value: unknown, header: ReadHeader): MessageRoute {
    if (Array.isArray(value)) {
      return this.handshakeVersions.length === 0 || value.some((each) => this.namesRevision(each?.params))
        ? 'stateless'
        : 'session';
    }
    const { jsonrpc, method, params } = (value ?? {}) as JsonRpcRequest;
    if (method === 'initialize') {
      const { kind, message } = classifyMessage(value) as { kind: string; message: JsonRpcRequest };
      return kind === 'request' && this.classify(message, header) === undefined ? 'initialize' : 'stateless';
    }
    if (this.namesRevision(params) || this.handshakeVersions.length === 0) return 'stateless';
    const headerVersion = header('mcp-protocol-version');
    if (
      headerVersion !== undefined &&
      !this.handshakeVersions.includes(headerVersion) &&
      isStatelessDate(headerVersion.trim())
    )
      return 'stateless';
    // Fast path for the most common shape. What is not a message at all is rejected where sessions do not matter.
    if (jsonrpc === '2.0' && typeof method === 'string' && (params === undefined || isObject(params))) return 'session';
    return classifyMessage(value).kind === 'invalid' ? 'stateless' : 'session';
  }

  /**
   * Finds the codec for a request. A codec: the request is stateless and names that revision. Undefined: it belongs to
   * the handshake session of its channel. An error: it is rejected. The body decides; headers are only cross-checked,
   * or decide where the body names no revision.
   */
  classify(request: JsonRpcRequest, header: ReadHeader | undefined): Codec | WireError | undefined {
    const meta = request.params?.['_meta'];
    if (!isObject(meta) || meta[metaKeys.protocolVersion] === undefined) {
      if (this.handshakeVersions.length === 0) return this.#handshakeDisabled(request, header);
      return header === undefined ? undefined : this.#withoutRevision(request, header);
    }
    const version = meta[metaKeys.protocolVersion];
    const codec = typeof version === 'string' ? this.stateless(version) : undefined;
    if (request.method === 'initialize' && codec === undefined && !isUnknownVersion(version)) return undefined;
    const problem = checkEnvelope(meta);
    if (problem !== undefined) return request.method === 'initialize' ? undefined : wireErrors.invalidMeta(problem);
    const disagreement = header && checkPresentHeaders(request, version as string, header);
    if (disagreement) return disagreement;
    if (codec === undefined) return wireErrors.unsupportedVersion(version, statelessRevisions);
    return (header && checkRequiredHeaders(request, header)) ?? codec;
  }

  /** The error of a notification whose headers contradict it. */
  notificationHeaderError(notification: JsonRpcNotification, header: ReadHeader): WireError | undefined {
    const meta = notification.params?.['_meta'];
    return checkNotificationHeaders(notification, isObject(meta) ? meta[metaKeys.protocolVersion] : undefined, header);
  }

  #withoutRevision(request: JsonRpcRequest, header: ReadHeader): WireError | undefined {
    const headerVersion = header('mcp-protocol-version')?.trim();
    if (headerVersion === undefined || !isStatelessDate(headerVersion)) return undefined;
    if (request.method === 'initialize') {
      return wireErrors.headerMismatch(
        `MCP-Protocol-Version ${headerVersion} has no initialize; name it in params._meta of each request instead`,
      );
    }
    return this.#missingMeta(headerVersion);
  }

  /** The error for a handshake client where no handshake revision is enabled. */
  #handshakeDisabled(request: JsonRpcRequest, header: ReadHeader | undefined): WireError {
    if (request.method === 'initialize') {
      return wireErrors.unsupportedVersion(request.params?.['protocolVersion'] ?? null, statelessRevisions);
    }
    const headerVersion = header?.('mcp-protocol-version')?.trim();
    if (headerVersion !== undefined && !isStatelessDate(headerVersion))
      return wireErrors.unsupportedVersion(headerVersion, statelessRevisions);
    if (header !== undefined && headerVersion === undefined)
      return wireErrors.headerMismatch('MCP-Protocol-Version is missing');
    return this.#missingMeta(headerVersion ?? (statelessRevisions.at(-1) as string));
  }

  /** That the version is not supported comes first: adding the keys would not help. */
  #missingMeta(version: string): WireError {
    if (this.stateless(version) === undefined) return wireErrors.unsupportedVersion(version, statelessRevisions);
    const keys = `${metaKeys.protocolVersion} and ${metaKeys.clientCapabilities}`;
    return wireErrors.invalidMeta(`params._meta lacks ${keys}, which ${version} requires`);
  }

  /** True when the body of a message names its revision. */
  namesRevision(params: Params | null | undefined): boolean {
    const meta = params?.['_meta'];
    return isObject(meta) && meta[metaKeys.protocolVersion] !== undefined;
  }
}

function isUnknownVersion(version: unknown): boolean {
  return typeof version === 'string' && !handshakeRevisions.includes(version);
}

/** Returns what is wrong with the `_meta` of a stateless request. */
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
