// The small parts that every screen uses.

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../announce.ts';
import { visibleParts } from '../hidden-characters.ts';
import { Icon } from './icons.tsx';

/** Untrusted text: always a text node, with hidden characters made visible. */
export function Text({ text }: { text: string }): JSX.Element {
  const parts = visibleParts(text);
  return (
    <>
      {parts.map((part) =>
        part.isMark ? (
          <mark class="hidden-character" title="A character that is not visible">
            {part.text}
          </mark>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

export type Tone = 'neutral' | 'good' | 'bad' | 'warning' | 'accent';

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Problem({ message }: { message: string }): JSX.Element {
  return (
    <p class="problem" role="alert">
      <Icon name="warning" /> <Text text={message} />
    </p>
  );
}

export function Notice({ tone = 'accent', children }: { tone?: Tone; children: ComponentChildren }): JSX.Element {
  return <div class={`notice ${tone}`}>{children}</div>;
}

/** The heading of a screen with its actions. */
export function Heading({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <header class="screen-heading">
      <h1 tabIndex={-1}>{title}</h1>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }): JSX.Element {
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    copied.value = true;
    announce('Copied');
    setTimeout(() => {
      copied.value = false;
    }, 1_500);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      <Icon name={copied.value ? 'check' : 'copy'} /> {label}
    </button>
  );
}

export interface Tab {
  readonly name: string;
  readonly content: () => JSX.Element;
}

/** Alternatives of which one is shown; arrow keys move between them. */
export function Tabs({ label, tabs, selected, onSelect }: TabsProps): JSX.Element {
  const own = useSignal(0);
  const index = Math.min(selected ?? own.value, tabs.length - 1);
  const select = (next: number): void => {
    own.value = next;
    onSelect?.(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (index + step + tabs.length) % tabs.length;
    select(next);
    const list = event.currentTarget as HTMLElement;
    (list.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab, at) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            aria-selected={at === index}
            tabIndex={at === index ? 0 : -1}
            onClick={() => select(at)}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div role="tabpanel" class="tab-panel">
        {tabs[index]?.content()}
      </div>
    </div>
  );
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected?: number;
  readonly onSelect?: (index: number) => void;
}

/** A modal dialog. Escape and a click on the backdrop call `onClose`. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  // Before it is painted: what is typed next goes into the dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : undefined}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

/** The result of a request; `reload` repeats it. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly problem: string | undefined;
  readonly reload: () => void;
}

/** Loads when `key` changes, and every `everyMs` while the page is visible. */
export function useLoaded<Value>(key: string, load: () => Promise<Value>, everyMs?: number): Loaded<Value> {
  const [value, setValue] = useState<{ key: string; value: Value } | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [count, setCount] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    const run = (): void => {
      load().then(
        (loaded) => {
          if (!isCurrent) return;
          setValue({ key, value: loaded });
          setProblem(undefined);
        },
        (error: unknown) => {
          if (isCurrent) setProblem(error instanceof Error ? error.message : String(error));
        },
      );
    };
    run();
    const timer = everyMs === undefined ? undefined : setInterval(() => document.hidden || run(), everyMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [key, count]);
  return { value: value?.key === key ? value.value : undefined, problem, reload: () => setCount((n) => n + 1) };
}
