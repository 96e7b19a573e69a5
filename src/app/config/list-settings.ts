// The effective settings as lines, each with where it comes from and without secrets: for `mooring config` and the console.

import { options } from './options.ts';
import type { ResolvedSettings } from './resolve.ts';
import type { SettingValue } from './values.ts';

export interface SettingLine {
  readonly name: string;
  readonly value: string;
  readonly from: string;
  /** Whether it differs from the default. */
  readonly changed: boolean;
}

export function listSettings({ values, file }: ResolvedSettings): SettingLine[] {
  return options.map(({ key, secret }) => {
    const entry = values.get(key);
    return {
      name: key,
      value: entry === undefined ? '–' : show(entry, secret === true),
      from: entry === undefined ? 'default' : origin(entry, file),
      changed: entry !== undefined && entry.origin.from !== 'default',
    };
  });
}

function show({ value }: SettingValue, secret: boolean): string {
  if (secret) return Array.isArray(value) ? `${value.length} hidden` : 'hidden';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatValue).join(', ');
  if (typeof value === 'object' && value !== null) {
    const names = Object.keys(value);
    return names.length === 0 ? 'none' : names.join(', ');
  }
  return formatValue(value);
}

function formatValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return String((value as { source?: unknown }).source ?? '…');
  return String(value);
}

function origin({ origin: { from, where } }: SettingValue, file: string | undefined): string {
  if (from === 'file') return `file, line ${where?.slice((file?.length ?? 0) + 1)}`;
  return where === undefined ? from : `${from} ${where}`;
}
