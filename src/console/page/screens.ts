// The screens of the console and their names.

import { computed } from '@preact/signals';
import type { ScreenName } from '../api.ts';
import { state } from './feed.ts';
import { lists } from './lists.ts';

export const screens: readonly { readonly name: ScreenName; readonly title: string }[] = [
  { name: 'overview', title: 'Overview' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'tools', title: 'Tools' },
  { name: 'resources', title: 'Resources' },
  { name: 'prompts', title: 'Prompts' },
  { name: 'skills', title: 'Skills' },
  { name: 'tasks', title: 'Tasks' },
  { name: 'sessions', title: 'Sessions' },
  { name: 'upstreams', title: 'Upstreams' },
  { name: 'metrics', title: 'Metrics' },
  { name: 'audit', title: 'Audit' },
  { name: 'auth', title: 'Auth' },
  { name: 'about', title: 'About' },
];

/** Always there for a server that runs here: without tasks, sessions or an audit log they show how to get them. */
const always = new Set<ScreenName>(['tasks', 'sessions', 'audit']);

/** Those that are not there before it is known whether the server has them. */
const unusual = new Set<ScreenName>(['auth', 'upstreams', 'skills']);

/** Those that this server has. */
export const shownScreens = computed(() => {
  const current = state.value;
  if (current === undefined) return screens.filter(({ name }) => !unusual.has(name));
  const isEmbedded = current.mode === 'embedded';
  const hasSkills = (lists.value?.skills ?? []).length > 0;
  const isShown = (name: ScreenName): boolean => current.screens.includes(name) || (isEmbedded && always.has(name));
  return screens.filter(({ name }) => (name === 'skills' ? hasSkills : isShown(name)));
});
