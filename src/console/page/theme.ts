// Light, dark, or what the system uses.

import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export const themes: readonly Theme[] = ['system', 'light', 'dark'];

const key = 'mooring-console-theme';

function stored(): Theme {
  try {
    return themes.find((each) => each === localStorage.getItem(key)) ?? 'system';
  } catch {
    return 'system';
  }
}

export const theme = signal<Theme>(stored());

export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    try {
      localStorage.setItem(key, theme.value);
    } catch {
      // Without storage the choice holds until the tab is closed.
    }
  });
}
