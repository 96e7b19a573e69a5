// Arguments of the methods of a context: TypeScript reports a wrong one, JavaScript would ignore it, or fail elsewhere.

import { assertKnownOptions } from '../../common/known-options.ts';
import { abilities } from '../../protocol/abilities.ts';
import { logLevels } from '../../protocol/model.ts';
import type { InputRequestOptions } from '../context.ts';
import type { InputRequest } from '../input-requests/input-request.ts';

/** A value in a message: as JSON, or its type. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return JSON.stringify(value);
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function requireProgress(progress: unknown, total: unknown, message: unknown): void {
  const isTotal = total === undefined || total === null || typeof total === 'number';
  const isMessage = message === undefined || message === null || typeof message === 'string';
  if (typeof progress === 'number' && isTotal && isMessage) return;
  const given =
    typeof progress !== 'number'
      ? `a number first, not ${shown(progress)}`
      : isTotal
        ? `a text third, not ${shown(message)}`
        : `a number or undefined second, not ${shown(total)}`;
  throw new TypeError(`ctx.progress needs ${given}: ctx.progress(done, total, "message")`);
}

export function requireLogLevel(level: unknown): void {
  if ((logLevels as readonly unknown[]).includes(level)) return;
  const levels = logLevels.join(', ');
  throw new TypeError(`ctx.log: ${shown(level)} is not a level; use one of ${levels}: ctx.log("info", data)`);
}

export function requireAbility(ability: unknown): void {
  if (ability === 'ui' || (abilities as readonly unknown[]).includes(ability)) return;
  throw new TypeError(`ctx.can: ${shown(ability)} is not known; use one of ${abilities.join(', ')}, ui`);
}

const ofInputRequests: Record<keyof InputRequestOptions, true> = { key: true, signal: true };
const ofSteps = { once: true };

/** Options of `ctx.elicit` and the like: a key that has no effect would be noticed when a client retries. */
export function requireInputOptions(kind: InputRequest['kind'], options: object | undefined): void {
  if (options !== undefined) assertKnownOptions(`ctx.${kind}`, options, ofInputRequests);
}

export function requireStep(key: unknown, run: unknown, options: object): void {
  assertKnownOptions('ctx.step', options, ofSteps);
  if (typeof key === 'string' && typeof run === 'function') return;
  const wrong =
    typeof key === 'string' ? `a function second, not ${shown(run)}` : `a key first, a string, not ${shown(key)}`;
  throw new TypeError(`ctx.step needs ${wrong}: ctx.step("key", () => …)`);
}
