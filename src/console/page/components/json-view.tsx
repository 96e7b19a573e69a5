// JSON as a tree that opens and closes. Large values are opened on demand.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type ExactJson, NumberText, parseJson } from '../forms/json-text.ts';
import { Text } from './basics.tsx';

/** How many children of a value, and characters of a text, are shown before "more". */
const shownChildren = 100;
const shownCharacters = 2_000;

/** JSON text as a tree, or unchanged if it is not JSON. */
export function JsonText({ text, depth = 3 }: { text: string; depth?: number }): JSX.Element {
  const parsed = useMemo(() => {
    try {
      return { value: parseJson(text) };
    } catch {
      return undefined;
    }
  }, [text]);
  if (parsed === undefined) return <LongText text={text} />;
  return <JsonView value={parsed.value} depth={depth} />;
}

export function JsonView({ value, depth = 3 }: { value: ExactJson; depth?: number }): JSX.Element {
  return (
    <div class="json">
      <Node value={value} depth={depth} />
    </div>
  );
}

/** Text with its line breaks; what is long is cut, with a button for the rest. */
export function LongText({ text }: { text: string }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > shownCharacters && !isWhole;
  return (
    <>
      <pre class="text">
        <Text text={isLong ? text.slice(0, shownCharacters) : text} />
        {isLong && '…'}
      </pre>
      {isLong && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en-US')} characters
        </button>
      )}
    </>
  );
}

function Node({ name, value, depth }: { name?: string; value: ExactJson; depth: number }): JSX.Element {
  const isList = Array.isArray(value);
  if (isList || value instanceof Map) {
    const children: [string, ExactJson][] = isList
      ? (value as readonly ExactJson[]).map((each, index) => [String(index), each])
      : [...(value as ReadonlyMap<string, ExactJson>)];
    return <Parent name={name} items={children} isList={isList} depth={depth} />;
  }
  return (
    <span class="json-leaf">
      <Key name={name} />
      <Leaf value={value} />
    </span>
  );
}

function Key({ name }: { name?: string }): JSX.Element | null {
  if (name === undefined) return null;
  return (
    <>
      <span class="json-key">
        <Text text={name} />
      </span>
      <span class="json-mark">: </span>
    </>
  );
}

function Leaf({ value }: { value: ExactJson }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  if (typeof value === 'string') {
    const isLong = value.length > shownCharacters && !isWhole;
    return (
      <span class="json-string">
        "<Text text={isLong ? value.slice(0, shownCharacters) : value} />"
        {isLong && (
          <button type="button" class="small" onClick={() => setWhole(true)}>
            Show all {value.length.toLocaleString('en-US')} characters
          </button>
        )}
      </span>
    );
  }
  if (value instanceof NumberText) return <span class="json-number">{value.text}</span>;
  return <span class="json-word">{String(value)}</span>;
}

interface ParentProps {
  readonly name?: string;
  readonly items: readonly [string, ExactJson][];
  readonly isList: boolean;
  readonly depth: number;
}

function Parent({ name, items, isList, depth }: ParentProps): JSX.Element {
  const [isOpen, setOpen] = useState(depth > 0);
  const [shown, setShown] = useState(shownChildren);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) {
    return (
      <span class="json-leaf">
        <Key name={name} />
        <span class="json-mark">
          {open}
          {close}
        </span>
      </span>
    );
  }
  const summary = `${items.length} ${isList ? 'item' : 'key'}${items.length === 1 ? '' : 's'}`;
  return (
    <div class="json-parent">
      <button type="button" class="json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Key name={name} />
        <span class="json-mark">{isOpen ? open : `${open}…${close}`}</span>
        <span class="json-count">{summary}</span>
      </button>
      {isOpen && (
        <>
          <ul>
            {items.slice(0, shown).map(([key, each]) => (
              <li key={key}>
                <Node name={isList ? undefined : key} value={each} depth={depth - 1} />
              </li>
            ))}
          </ul>
          {items.length > shown && (
            <button type="button" class="small" onClick={() => setShown(shown + 10 * shownChildren)}>
              Show more of {items.length.toLocaleString('en-US')}
            </button>
          )}
          <span class="json-mark">{close}</span>
        </>
      )}
    </div>
  );
}
