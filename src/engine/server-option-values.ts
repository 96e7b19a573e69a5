// Values of the options of `createServer` that TypeScript would report, and that JavaScript would notice in a request at best.

import { assertKnownOptions } from '../common/known-options.ts';
import type { Logger } from '../common/logger.ts';
import type { Rules } from '../protocol/rules.ts';

type RuleGroup = 'lifecycle' | 'errors' | 'tools' | 'content' | 'logging' | 'execution';
const rules: Record<keyof Rules, true> = {
  handshakeVersions: true,
  lifecycle: true,
  batch: true,
  errors: true,
  tools: true,
  content: true,
  logging: true,
  execution: true,
};
const ruleGroups: { readonly [G in RuleGroup]: Record<keyof NonNullable<Rules[G]>, true> } = {
  lifecycle: { lenientInitialize: true, requestsFrom: true, pingBeforeInit: true, initializedAliases: true },
  errors: {
    style: true,
    titles: true,
    unknownTool: true,
    invalidArguments: true,
    resourceNotFound: true,
    handler: true,
    toolText: true,
  },
  tools: { missingArguments: true, explicitIsErrorFalse: true, jsonIndent: true },
  content: { flatResource: true },
  logging: { levelAliases: true },
  execution: { concurrency: true, timeoutMs: true },
};

const logMethods = ['debug', 'info', 'notice', 'warn', 'error', 'child', 'enabled'] as const satisfies (keyof Logger)[];
const storeMethods = ['get', 'set', 'add', 'delete'] as const;

/** The options of a server whose values are checked here. */
interface CheckedOptions {
  readonly rules?: Rules;
  readonly instructions?: unknown;
  readonly logger?: unknown;
  readonly store?: unknown;
  readonly cache?: unknown;
  readonly extensions?: unknown;
  readonly icons?: unknown;
}

export function checkOptionValues(options: CheckedOptions): void {
  const { instructions, logger, store, cache, extensions, icons } = options;
  if (options.rules !== undefined) checkRules(options.rules);
  if (instructions !== undefined && typeof instructions !== 'string' && typeof instructions !== 'function') {
    throw wrong('instructions', 'must be a string or a function', instructions);
  }
  if (logger !== undefined && logger !== false) {
    requireMethods(
      'logger',
      logger,
      logMethods,
      'use createLogger({ level: "debug" }) of "mooring", or false for none',
    );
  }
  if (store !== undefined) {
    requireMethods('store', store, storeMethods, 'use a store of mooring/stores/sqlite or mooring/stores/redis');
  }
  if (cache !== undefined && !isCacheHint(cache)) {
    throw wrong('cache', 'must be an object such as { ttlMs: 60_000, cacheScope: "private" }', cache);
  }
  if (
    extensions !== undefined &&
    (typeof extensions !== 'object' || extensions === null || Array.isArray(extensions))
  ) {
    throw wrong('extensions', 'must be an object such as { "com.example/echo": {} }', extensions);
  }
  if (icons !== undefined && !Array.isArray(icons)) {
    throw wrong('icons', 'must be a list such as [{ src: "https://example.com/icon.png" }]', icons);
  }
}

function checkRules(given: Rules): void {
  assertKnownOptions('rules of createServer', given, rules);
  for (const [group, known] of Object.entries(ruleGroups)) {
    const options = given[group as RuleGroup];
    if (options !== undefined) assertKnownOptions(`rules.${group} of createServer`, options, known);
  }
  const timeoutMs: unknown = given.execution?.timeoutMs;
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 0)) {
    throw wrong('rules.execution.timeoutMs', 'must be a number of milliseconds, or 0 for no limit', timeoutMs);
  }
}

function requireMethods(option: string, value: unknown, methods: readonly string[], remedy: string): void {
  if (typeof value !== 'object' || value === null) throw wrong(option, `must be an object; ${remedy}`, value);
  const missing = methods.filter((name) => typeof (value as Record<string, unknown>)[name] !== 'function');
  if (missing.length === 0) return;
  throw new TypeError(`createServer, ${option}: has no ${missing.join(', ')}; ${remedy}`);
}

function isCacheHint(value: unknown): boolean {
  const { ttlMs, cacheScope } = (value ?? {}) as { readonly ttlMs?: unknown; readonly cacheScope?: unknown };
  return typeof ttlMs === 'number' && (cacheScope === 'public' || cacheScope === 'private');
}

function wrong(option: string, problem: string, value: unknown): TypeError {
  const given = typeof value === 'function' ? 'a function' : JSON.stringify(value);
  return new TypeError(`createServer, ${option}: ${problem}; it is ${given}`);
}
