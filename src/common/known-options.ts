// Options and limits by name: TypeScript reports a mistyped one in an object literal, but not in a variable; JavaScript neither.

import { nearest } from './nearest.ts';

/**
 * Throws for options that are no object, and for an option that does not exist. `callee`: the function that was called with the
 * options; `ignored`: options of another function that is usually given the same object.
 */
export function assertKnownOptions(callee: string, options: object, known: object, ignored: object = {}): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const given = Array.isArray(options) ? 'an array' : options === null ? 'null' : typeof options;
    throw new TypeError(`The options of ${callee} must be an object, not ${given}`);
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name) || Object.hasOwn(ignored, name)) continue;
    if ((options as Record<string, unknown>)[name] === undefined) continue;
    const names = Object.keys(known);
    const meant = nearest(name, names);
    const hint = meant === undefined ? 'use' : `did you mean ${meant}? Use`;
    throw new TypeError(`Unknown option ${name} of ${callee}; ${hint} one of ${names.join(', ')}`);
  }
}

/** Throws for a limit that is not a number above 0. */
export function assertLimit(name: string, value: unknown, mayBeZero = false): void {
  if (typeof value === 'number' && (value > 0 || (value === 0 && mayBeZero))) return;
  const given = typeof value === 'number' ? String(value) : `of type ${value === null ? 'null' : typeof value}`;
  throw new TypeError(`The limit ${name} must be ${mayBeZero ? '0 or ' : ''}a number above 0; it is ${given}`);
}

/**
 * Fills in the defaults. An absent value must not remove a limit, and one whose default is a number must be a
 * number above 0. `mayBeZero`: names of those that may be 0.
 */
export function resolveLimits<T extends object>(
  defaults: T,
  given: Partial<T>,
  mayBeZero: readonly (keyof T)[] = [],
): T {
  const limits = { ...defaults } as Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaults, name))
      throw new TypeError(`Unknown limit ${name}; use one of ${Object.keys(defaults).join(', ')}`);
    if (typeof limits[name] === 'number') assertLimit(name, value, mayBeZero.includes(name as keyof T));
    limits[name] = value;
  }
  return limits as T;
}

/** As `resolveLimits`, for limits that are options among others. */
export function resolveLimitOptions<T extends object>(
  defaults: T,
  options: Partial<T>,
  mayBeZero: readonly (keyof T)[] = [],
): T {
  const given: Partial<T> = {};
  for (const name of Object.keys(defaults) as (keyof T)[]) given[name] = options[name];
  return resolveLimits(defaults, given, mayBeZero);
}
