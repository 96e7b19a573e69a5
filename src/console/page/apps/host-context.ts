// The host context for apps: theme, colours, size, language.

import type { JsonObject } from '../../api.ts';
import { theme } from '../theme.ts';

/** Settings that the author of an app can change to see how it reacts. */
export interface AppSettings {
  readonly theme: 'console' | 'light' | 'dark';
  /** In pixels; undefined: as wide as the page. */
  readonly width: number | undefined;
  readonly locale: string;
}

export const initialSettings = (): AppSettings => ({ theme: 'console', width: undefined, locale: navigator.language });

export function themeOf(settings: AppSettings): 'light' | 'dark' {
  const chosen = settings.theme === 'console' ? theme.value : settings.theme;
  if (chosen !== 'system') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** CSS variables of the extension, and the custom properties of the console that they are set to. */
const variables: Readonly<Record<string, string>> = {
  '--color-background-primary': '--surface',
  '--color-background-secondary': '--page',
  '--color-background-tertiary': '--raised',
  '--color-background-info': '--accent-soft',
  '--color-background-danger': '--bad-soft',
  '--color-background-success': '--good-soft',
  '--color-background-warning': '--warning-soft',
  '--color-text-primary': '--text',
  '--color-text-secondary': '--muted',
  '--color-text-tertiary': '--muted',
  '--color-text-info': '--accent',
  '--color-text-danger': '--bad',
  '--color-text-success': '--good',
  '--color-text-warning': '--warning',
  '--color-border-primary': '--line-strong',
  '--color-border-secondary': '--line',
  '--color-border-tertiary': '--line',
  '--color-ring-primary': '--accent',
  '--font-sans': '--sans',
  '--font-mono': '--mono',
  '--font-text-sm-size': '--size-small',
  '--font-text-md-size': '--size-normal',
  '--font-text-lg-size': '--size-large',
  '--border-radius-sm': '--radius-small',
  '--border-radius-md': '--radius',
  '--shadow-sm': '--shadow',
};

function styles(): JsonObject {
  const own = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    Object.entries(variables).map(([name, property]) => [name, own.getPropertyValue(property).trim()]),
  );
}

export function hostContext(settings: AppSettings, tool: JsonObject, frameWidth: number): JsonObject {
  return {
    toolInfo: { tool },
    theme: themeOf(settings),
    styles: { variables: styles() },
    displayMode: 'inline',
    availableDisplayModes: ['inline'],
    containerDimensions: { width: settings.width ?? frameWidth, maxHeight: 4_000 },
    locale: settings.locale,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    userAgent: 'mooring-console',
    platform: 'web',
    deviceCapabilities: {
      touch: matchMedia('(pointer: coarse)').matches,
      hover: matchMedia('(hover: hover)').matches,
    },
  };
}
