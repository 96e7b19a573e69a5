// The options of `createServer`.

import { assertKnownOptions } from '../common/known-options.ts';
import type { Logger } from '../common/logger.ts';
import type { CacheHint, Capabilities, Implementation } from '../protocol/model.ts';
import type { Rules } from '../protocol/rules.ts';
import { checkSealKey } from '../protocol/seal-key.ts';
import type { Limits } from './limits.ts';
import type { Bus, Caller, ExpiringStore, Sealer, SealKey } from './ports.ts';
import { checkOptionValues } from './server-option-values.ts';
import { checkTasksOptions, type TasksOptions } from './tasks/task-options.ts';

/** The options of a server. Only `name` and `version` are required. */
export interface ServerOptions extends Implementation {
  /** How to use this server, for the client's model. A function is called for each client. */
  readonly instructions?: string | ((caller: Caller) => string | undefined);
  /** Deviations from the specification; see `Rules`. */
  readonly rules?: Rules;
  /** Limits of requests, messages and lists; see `Limits` for the defaults. */
  readonly limits?: Partial<Limits>;
  /** Declared as given, instead of derived from what is registered. A function is called whenever they are needed. */
  readonly capabilities?: Capabilities | (() => Capabilities);
  /** Extensions to advertise, by identifier. */
  readonly extensions?: { readonly [id: string]: object };
  /** Whether clients may request log messages. Default true. */
  readonly logging?: boolean;
  /** How long clients may cache lists. Default: not at all. */
  readonly cache?: CacheHint;
  /** Seals cursors, sessions and states of unfinished calls. Replicas share it. Default: random for each process. */
  readonly key?: SealKey;
  /** Earlier keys: what they sealed can still be opened, so that a key can be replaced without interruption. */
  readonly previousKeys?: readonly SealKey[];
  /** Encrypts cursors, sessions and states instead of one made from `key`. */
  readonly sealer?: Sealer;
  /** For marks of single-use states, and journals too large for clients. Replicas share one. Default: in memory. */
  readonly store?: ExpiringStore;
  /** Connects the processes that serve the same endpoint, which then need the same `key` and `store`. Default: none. */
  readonly bus?: Bus;
  /** Whether handlers may attach files to their results, which clients read as resources; see `ctx.attach`. Default false. */
  readonly attachments?: boolean;
  /** Where the server reports to its operator. Default: warnings and errors on the console; `false`: nowhere. */
  readonly logger?: Logger | false;
  /**
   * Whether callers see the message of an unexpected error of a tool. `shown` (default), or `masked`: they are told that the
   * tool failed, and the log has the reason. The message of a `UserError` is always shown.
   */
  readonly errors?: 'shown' | 'masked';
  /** Where tasks are stored, and their limits. A durable store gets their contents encrypted, if the server has a key. */
  readonly tasks?: TasksOptions;
}

const known: Record<keyof ServerOptions, true> = {
  name: true,
  version: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: true,
  instructions: true,
  rules: true,
  limits: true,
  capabilities: true,
  extensions: true,
  logging: true,
  cache: true,
  key: true,
  previousKeys: true,
  sealer: true,
  store: true,
  bus: true,
  attachments: true,
  logger: true,
  errors: true,
  tasks: true,
};

const label = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
/** A key of `_meta` with a prefix (2026-07-28, Versioning, "Extension Negotiation"). */
const extensionId = new RegExp(`^${label}(?:\\.${label})*/(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`);

/** Throws for options with which no server can be created. */
export function checkServerOptions(options: ServerOptions): void {
  const { name, version, key, previousKeys = [], tasks = {}, errors = 'shown', attachments = false } = options;
  if (typeof name !== 'string' || name === '' || typeof version !== 'string') {
    throw new TypeError('A server needs a name and a version: createServer({ name: "weather", version: "1.0.0" })');
  }
  assertKnownOptions('createServer', options, known);
  checkTasksOptions(tasks);
  checkOptionValues(options);
  if (errors !== 'shown' && errors !== 'masked') {
    throw new TypeError(`createServer, errors: must be "shown" or "masked", not ${JSON.stringify(errors)}`);
  }
  if (typeof attachments !== 'boolean') {
    throw new TypeError(`createServer, attachments: must be true or false, not ${JSON.stringify(attachments)}`);
  }
  for (const id of Object.keys(options.extensions ?? {})) {
    if (extensionId.test(id)) continue;
    const example = 'reverse DNS, a slash and a name, such as "com.example/spice"';
    throw new TypeError(`createServer, extensions: ${JSON.stringify(id)} is not an identifier; use ${example}`);
  }
  if (key === undefined && previousKeys.length > 0) throw new TypeError('previousKeys needs a key: the current one');
  if (key !== undefined) for (const each of [key, ...previousKeys]) checkSealKey(each);
}
