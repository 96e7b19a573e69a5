// Ctrl+K: go to any screen, tool, resource or prompt by name. ?: the list of keys.

import { signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { Dialog, Text } from './components/basics.tsx';
import { lists } from './lists.ts';
import { go, link } from './router.ts';
import { shownScreens } from './screens.ts';

const opened = signal<'palette' | 'keys' | undefined>(undefined);
export const openPalette = (): void => {
  opened.value = 'palette';
};
export const openKeys = (): void => {
  opened.value = 'keys';
};
const close = (): void => {
  opened.value = undefined;
};

export function Palette(): JSX.Element | null {
  // Before the page is painted: no key that follows is missed.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        openPalette();
      } else if (event.key === '?' && !isTyping && document.querySelector('dialog[open]') === null) {
        openKeys();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  if (opened.value === 'keys') return <Keys />;
  return opened.value === 'palette' ? <Search /> : null;
}

interface PaletteTarget {
  readonly name: string;
  readonly kind: string;
  readonly to: string;
}

const maxShown = 12;

function targets(): PaletteTarget[] {
  const all = lists.value;
  return [
    ...shownScreens.value.map(({ name, title }) => ({ name: title, kind: 'screen', to: link(name) })),
    ...(all?.tools ?? []).map((each) => ({
      name: String(each['name']),
      kind: 'tool',
      to: link('tools', String(each['name'])),
    })),
    ...(all?.resources ?? []).map((each) => ({
      name: String(each['uri']),
      kind: 'resource',
      to: link('resources', String(each['uri'])),
    })),
    ...(all?.skills ?? []).map((each) => ({
      name: String(each['uri']),
      kind: 'skill',
      to: link('skills', String(each['uri'])),
    })),
    ...(all?.prompts ?? []).map((each) => ({
      name: String(each['name']),
      kind: 'prompt',
      to: link('prompts', String(each['name'])),
    })),
  ];
}

function Search(): JSX.Element {
  const query = useSignal('');
  const active = useSignal(0);
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = targets()
    .filter((target) => words.every((word) => `${target.kind} ${target.name}`.toLowerCase().includes(word)))
    .slice(0, maxShown);
  const open = (target: PaletteTarget | undefined): void => {
    if (target === undefined) return;
    close();
    go(target.to);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') active.value = Math.min(found.length - 1, active.value + 1);
    else if (event.key === 'ArrowUp') active.value = Math.max(0, active.value - 1);
    else if (event.key === 'Enter') open(found[active.value]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded="true"
        aria-controls="palette-results"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${active.value}`}
        autocomplete="off"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
          active.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-results" role="listbox" aria-label="Results" class="palette-results">
        {found.map((target, index) => (
          <div
            key={target.to}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === active.value}
            onClick={() => open(target)}
          >
            <Text text={target.name} /> <span class="muted">{target.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="muted">Nothing has this name.</p>}
    </Dialog>
  );
}

const keys: readonly [string, string][] = [
  ['Ctrl+K or ⌘K', 'Go to a screen, tool, resource or prompt'],
  ['Ctrl+Enter', 'Run the tool whose form has the focus'],
  ['↑ ↓ Page Up Page Down Home End', 'Move in the timeline'],
  ['Enter', 'Open or close a message of the timeline'],
  ['← →', 'Close or open a group of messages'],
  ['Escape', 'Close a message or a dialog'],
  ['?', 'This list'],
];

function Keys(): JSX.Element {
  return (
    <Dialog title="Shortcuts" onClose={close}>
      <dl class="facts">
        {keys.map(([key, meaning]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
