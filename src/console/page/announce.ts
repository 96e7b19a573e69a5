// What a screen reader says without moving the focus.

import { signal } from '@preact/signals';

export const announcement = signal('');

/** At most one text in this time, so that a busy timeline is not read aloud all the time. */
const intervalMs = 2_000;
let lastAt = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  clearTimeout(timer);
  const delay = Math.max(0, lastAt + intervalMs - Date.now());
  timer = setTimeout(() => {
    lastAt = Date.now();
    announcement.value = text;
  }, delay);
}
