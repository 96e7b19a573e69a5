// The screens of the console and their names.

import { computed } from '@preact/signals';
import type { ScreenName } from '../api.ts';
import { state } from './feed.ts';

export const screens: readonly { readonly name: ScreenName; readonly title: string }[] = [
  { name: 'overview', title: 'Overview' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'tools', title: 'Tools' },
  { name: 'resources', title: 'Resources' },
  { name: 'prompts', title: 'Prompts' },
  { name: 'tasks', title: 'Tasks' },
  { name: 'sessions', title: 'Sessions' },
  { name: 'metrics', title: 'Metrics' },
  { name: 'audit', title: 'Audit' },
  { name: 'auth', title: 'Auth' },
  { name: 'about', title: 'About' },
];

/** Those that this server has. */
export const shownScreens = computed(() => {
  const available = state.value?.screens;
  return available === undefined ? screens : screens.filter(({ name }) => available.includes(name));
});
