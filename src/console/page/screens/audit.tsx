// The audit log: search, whether its hash chain is intact, and an export of the lines that are shown.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { AuditPage, JsonObject } from '../../api.ts';
import { Badge, Empty, Heading, Problem, Text, useLoaded } from '../components/basics.tsx';
import { JsonText } from '../components/json-view.tsx';
import { dateTime, plural } from '../format.ts';
import { route, setQuery } from '../router.ts';
import { get } from '../server.ts';

/** Fields of a line that are always shown; the others are shown when it is opened. */
const firstFields = ['at', 'time', 'principal', 'event', 'method', 'tool', 'name', 'outcome'];

export function Audit(): JSX.Element {
  const query = route.value.query.get('q') ?? '';
  const cursor = useSignal<string | undefined>(undefined);
  const search = new URLSearchParams({
    ...(query !== '' && { text: query }),
    ...(cursor.value && { cursor: cursor.value }),
  });
  const { value, problem } = useLoaded(`audit ${search}`, () => get<AuditPage>(`audit?${search}`));
  const lines = value?.lines ?? [];
  return (
    <>
      <Heading title="Audit">
        <button type="button" disabled={lines.length === 0} onClick={() => save(lines)}>
          Export
        </button>
      </Heading>
      <div class="toolbar">
        <label class="filter">
          <span>Filter</span>
          <input
            type="search"
            placeholder="a principal, a tool, an outcome …"
            value={query}
            onInput={(event) => {
              cursor.value = undefined;
              setQuery({ q: event.currentTarget.value });
            }}
          />
        </label>
        <p class="muted count" role="status">
          {plural(lines.length, 'line')}
        </p>
        {value?.verification !== undefined && (
          <Badge tone={/^(ok|intact|valid|holds)/i.test(value.verification) ? 'good' : 'warning'}>
            <Text text={value.verification} />
          </Badge>
        )}
      </div>
      {problem !== undefined && <Problem message={problem} />}
      {value?.enabled === false && (
        <Empty title="There is no audit log.">
          <p>
            Start the server with <code>--audit FILE</code> to record who called what.
          </p>
        </Empty>
      )}
      {value?.enabled === true && lines.length === 0 && <Empty title="No line matches." />}
      <ul class="plain audit-lines">
        {lines.map((line, index) => (
          <li key={index}>
            <Line line={line} />
          </li>
        ))}
      </ul>
      <div class="toolbar">
        {cursor.value !== undefined && (
          <button type="button" onClick={() => (cursor.value = undefined)}>
            Newest lines
          </button>
        )}
        {value?.next !== undefined && (
          <button type="button" onClick={() => (cursor.value = value.next)}>
            Older lines
          </button>
        )}
      </div>
    </>
  );
}

function Line({ line }: { line: JsonObject }): JSX.Element {
  const shown = firstFields.filter((name) => ['string', 'number'].includes(typeof line[name]));
  return (
    <details>
      <summary>
        {shown.map((name) => (
          <span key={name} class={`audit-${name}`}>
            <Value name={name} value={String(line[name])} />
          </span>
        ))}
      </summary>
      <JsonText text={JSON.stringify(line)} />
    </details>
  );
}

/** Outcomes that need no attention. */
const fine = new Set(['ok', 'allowed', 'success']);

function Value({ name, value }: { name: string; value: string }): JSX.Element {
  if (name === 'at' || name === 'time') return <>{dateTime(value)}</>;
  if (name !== 'outcome') return <Text text={value} />;
  return (
    <Badge tone={fine.has(value) ? 'good' : 'bad'}>
      <Text text={value} />
    </Badge>
  );
}

function save(lines: readonly JsonObject[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const address = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = 'audit.ndjson';
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
