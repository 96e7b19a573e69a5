// Values of settings with their sources, and the parsing of flags and environment variables.

import { isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../usage-error.ts';
import type { Option } from './options.ts';

/** The source of a value; later ones override earlier ones. */
export type Source = 'default' | 'file' | 'env' | 'flag';

export interface Origin {
  readonly from: Source;
  /** The flag, the variable, or file and line. */
  readonly where?: string;
}

export interface SettingValue {
  readonly value: unknown;
  readonly origin: Origin;
}

export type SettingValues = Map<string, SettingValue>;

/** Relative paths start at `base`; `~/` is the home folder. */
export function absolutePath(path: string, base: string, home: string): string {
  if (path === '~') return home;
  if (path.startsWith('~/') || path.startsWith('~\\')) return join(home, path.slice(2));
  return isAbsolute(path) ? path : resolve(base, path);
}

/** Parses the texts of an option. Throws a `UsageError` if they are invalid. */
export function parseValues(
  option: Option,
  texts: readonly string[],
  where: string,
  resolvePath: PathResolver,
): unknown {
  const last = texts.at(-1) ?? '';
  switch (option.kind) {
    case 'switch':
      return parseSwitch(last, where);
    case 'number':
      return parsePort(last, where);
    case 'count':
      return parseCount(last, where);
    case 'integer':
      return parseInteger(last, where);
    case 'bytes':
      return parseBytes(last, where);
    case 'path':
      return resolvePath(notEmpty(last, where));
    case 'path-or-url':
      return pathOrUrl(notEmpty(last, where), resolvePath);
    case 'paths':
      return texts.map((text) => resolvePath(notEmpty(text, where)));
    case 'texts':
      return texts.map((text) => oneOf(option, text, where));
    case 'text':
      return oneOf(option, last, where);
    case 'tree':
      throw new UsageError(`${where} can only be set in the configuration file`);
  }
}

export type PathResolver = (path: string) => string;

/** A URL stays as it is. */
export function pathOrUrl(text: string, resolvePath: PathResolver): string {
  return /^https?:\/\//i.test(text) ? text : resolvePath(text);
}

function parseSwitch(text: string, where: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  if (/^(false|0|no|off|)$/i.test(text)) return false;
  throw new UsageError(`${where} must be true or false, not ${JSON.stringify(text)}`);
}

function parsePort(text: string, where: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new UsageError(`${where} must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
}

/** More processes than this must be a typing error. */
export const maxCount = 256;

function parseCount(text: string, where: string): number | 'auto' {
  if (text === 'auto') return text;
  const number = Number(text);
  if (/^[1-9]\d{0,2}$/.test(text) && number <= maxCount) return number;
  throw new UsageError(`${where} must be a number from 1 to ${maxCount}, or auto, not ${JSON.stringify(text)}`);
}

/** Eleven days in milliseconds; more must be a typing error. */
export const maxInteger = 999_999_999;

function parseInteger(text: string, where: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${where} must be a number from 0 to ${maxInteger}, not ${JSON.stringify(text)}`);
}

function parseBytes(text: string, where: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${where} must be a number of bytes, not ${JSON.stringify(text)}`);
}

function oneOf({ oneOf: texts }: Option, text: string, where: string): string {
  if (texts !== undefined && !texts.includes(text)) {
    throw new UsageError(`${where} must be one of ${texts.join(', ')}, not ${JSON.stringify(text)}`);
  }
  return notEmpty(text, where);
}

function notEmpty(text: string, where: string): string {
  if (text.trim() === '') throw new UsageError(`${where} must not be empty`);
  return text;
}
