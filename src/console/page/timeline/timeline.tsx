// The timeline: every message, newest below. Follows the end until you scroll up.

import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { announce } from '../announce.ts';
import { Badge, Empty, Heading, Problem, Text } from '../components/basics.tsx';
import { Icon } from '../components/icons.tsx';
import { VirtualList } from '../components/virtual-list.tsx';
import { clearRows, rows, rowsVersion, state } from '../feed.ts';
import { bytes, duration, number, plural, time } from '../format.ts';
import { route, setQuery } from '../router.ts';
import { send } from '../server.ts';
import { Details } from './details.tsx';
import { parseFilter } from './filter.ts';
import { Outcome } from './outcome.tsx';
import { Peer, peerClass } from './peer.tsx';
import { isErrorRow, type Row, type ShownRow } from './rows.ts';

const rowHeight = 32;
/** How long a frame may take for searching: the page stays responsive however long the texts are. */
const maxSearchMs = 20;

export function Timeline(): JSX.Element {
  const query = useComputed(() => route.value.query.get('q') ?? '');
  const filter = useComputed(() => parseFilter(query.value));
  const opened = useSignal<ReadonlySet<number>>(new Set());
  const isFollowing = useSignal(!route.value.query.has('entry'));
  /** The last message when following stopped. */
  const pausedAt = useSignal(0);
  const problem = useSignal<string | undefined>(undefined);
  const found = useComputed(() => {
    rowsVersion.value;
    const endAt = performance.now() + maxSearchMs;
    return rows.shown(
      filter.value,
      (row) => opened.value.has(row.key),
      () => performance.now() < endAt,
    );
  });
  const shown = useComputed(() => found.value.rows);
  useSignalEffect(() => {
    // The rest is searched with the next frames.
    if (!found.value.isComplete) requestAnimationFrame(() => (rowsVersion.value += 1));
  });
  useSummary();
  // A page that opens with a message does not follow: what is there then is not new.
  if (pausedAt.peek() === 0) pausedAt.value = rows.last;
  const entryNumber = Number(route.value.query.get('entry') ?? Number.NaN);
  const selected = Number.isNaN(entryNumber) ? undefined : rows.find(entryNumber);
  const toggle = (row: Row, open: boolean): void => {
    const next = new Set(opened.value);
    if (open && row.members !== undefined) next.add(row.key);
    else next.delete(row.key);
    opened.value = next;
  };
  const isFiltered = filter.value.isActive;
  return (
    <div class="timeline-screen">
      <Heading title="Timeline">
        <Transfer onProblem={(message) => (problem.value = message)} />
      </Heading>
      <div class="toolbar">
        <label class="filter">
          <span>Filter</span>
          <input
            type="search"
            list="filter-words"
            autocomplete="off"
            spellcheck={false}
            placeholder="method:tools/call is:error ms>500 text:…"
            value={query.value}
            aria-describedby="filter-problem"
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
          <datalist id="filter-words">
            {[
              'method:',
              'name:',
              'peer:',
              'is:error',
              'is:open',
              'is:invalid',
              'code:',
              'ms>500',
              'text:',
              'task:',
            ].map((word) => (
              <option key={word} value={word} />
            ))}
          </datalist>
        </label>
        <p class="muted count" role="status">
          {isFiltered ? `${plural(shown.value.length, 'row')} of ` : ''}
          {plural(rows.received, 'message')}
          {!found.value.isComplete && ', searching…'}
          {rows.removed > 0 && `, ${number(rows.removed)} older ones no longer kept here`}
        </p>
        {rows.dropped > 0 && (
          <Badge tone="warning">
            {plural(rows.dropped, 'message')} not received: they arrived too fast or are too old
          </Badge>
        )}
        <p id="filter-problem" class="field-error">
          {filter.value.problems.join(' ')}
        </p>
      </div>
      {problem.value !== undefined && <Problem message={problem.value} />}
      <div class={selected === undefined ? 'timeline' : 'timeline has-details'}>
        <div class="timeline-list">
          {shown.value.length === 0 ? (
            <Empty title={isFiltered ? 'No message matches the filter.' : 'No messages yet.'}>
              {!isFiltered && <p>Connect a client, or run a tool from here. Messages appear as they are sent.</p>}
            </Empty>
          ) : (
            <VirtualList<ShownRow>
              label="Messages"
              items={shown.value}
              keyOf={(item) => item.row.key}
              rowHeight={rowHeight}
              selected={selected?.key}
              isFollowing={isFollowing.value}
              onFollow={(following) => {
                isFollowing.value = following;
                pausedAt.value = rows.last;
              }}
              onOpen={({ row }) =>
                setQuery({ entry: selected?.key === row.key ? undefined : String(row.entry.number) })
              }
              onToggle={({ row }, open) => toggle(row, open)}
              isExpanded={({ row }) => (row.members === undefined ? undefined : opened.value.has(row.key))}
              rowClass={(item) => rowClass(item)}
              header={<Header />}
              render={(item) => (
                <Cells
                  item={item}
                  isOpen={opened.value.has(item.row.key)}
                  onToggle={(open) => toggle(item.row, open)}
                />
              )}
            />
          )}
          {!isFollowing.value && (
            <button type="button" class="follow primary" onClick={() => (isFollowing.value = true)}>
              <Icon name="down" />{' '}
              {rows.last > pausedAt.value ? `${plural(rows.last - pausedAt.value, 'new message')}` : 'Follow'}
            </button>
          )}
        </div>
        {selected !== undefined && (
          <Details key={selected.key} row={selected} onClose={() => setQuery({ entry: undefined })} />
        )}
      </div>
    </div>
  );
}

const rowClass = ({ row, level }: ShownRow): string =>
  [peerClass(row.entry.peer), isErrorRow(row) ? 'is-error' : '', level === 1 ? 'is-member' : ''].join(' ');

function Header(): JSX.Element {
  return (
    <>
      {['Time', 'Client', 'Message', 'Outcome', 'Duration', 'Size'].map((name) => (
        <span key={name} role="columnheader" tabIndex={-1} class={`cell cell-${name.toLowerCase()}`}>
          {name}
        </span>
      ))}
    </>
  );
}

interface CellsProps {
  readonly item: ShownRow;
  readonly isOpen: boolean;
  readonly onToggle: (open: boolean) => void;
}

function Cells({ item, isOpen, onToggle }: CellsProps): JSX.Element {
  const { row } = item;
  const { entry, response } = row;
  const ms = response?.durationMs ?? entry.durationMs;
  return (
    <>
      <span role="gridcell" class="cell cell-time">
        {time(entry.at)}
      </span>
      <span role="gridcell" class="cell cell-client">
        <Peer peer={rows.peers.get(entry.peer)} number={entry.peer} />
      </span>
      <span role="gridcell" class="cell cell-message">
        {row.members !== undefined && (
          <button
            type="button"
            class="icon-button toggle"
            tabIndex={-1}
            aria-expanded={isOpen}
            aria-label={`${row.members.length} messages`}
            onClick={(event) => {
              event.stopPropagation();
              onToggle(!isOpen);
            }}
          >
            <Icon name="open" />
          </button>
        )}
        <span class="direction" title={entry.direction === 'in' ? 'received' : 'sent'}>
          <span aria-hidden="true">{entry.direction === 'in' ? '→' : '←'}</span>
          <span class="sr-only">{entry.direction === 'in' ? 'received' : 'sent'}</span>
        </span>
        <span class="method">
          <Text text={entry.method ?? (entry.kind === 'response' ? 'response' : 'invalid message')} />
        </span>
        {entry.name !== undefined && (
          <span class="entry-name">
            <Text text={entry.name} />
          </span>
        )}
        {row.members !== undefined && <span class="muted">+{row.members.length - 1}</span>}
        {entry.reason !== undefined && (
          <span class="muted">
            <Text text={entry.reason} />
          </span>
        )}
      </span>
      <span role="gridcell" class="cell cell-outcome">
        <Outcome row={row} />
      </span>
      <span role="gridcell" class="cell cell-duration">
        {ms !== undefined && (
          <>
            <span class={`bar bar-${barStep(ms)}`} aria-hidden="true" />
            {duration(ms)}
          </>
        )}
      </span>
      <span role="gridcell" class="cell cell-size">
        {bytes(entry.bytes + (response?.bytes ?? 0))}
      </span>
    </>
  );
}

/** A step from 0 to 8: each is about three times as long as the one before. */
const barStep = (ms: number): number => Math.max(0, Math.min(8, Math.round(Math.log10(Math.max(ms, 0.1)) * 2) + 1));

/** Export, import and clear. */
function Transfer({ onProblem }: { onProblem: (message: string | undefined) => void }): JSX.Element {
  const file = useRef<HTMLInputElement>(null);
  const attempt = async (action: () => Promise<void>): Promise<void> => {
    try {
      onProblem(undefined);
      await action();
    } catch (error) {
      onProblem((error as Error).message);
    }
  };
  const save = async (): Promise<void> => {
    const response = await send('export');
    const address = URL.createObjectURL(await response.blob());
    const anchor = document.createElement('a');
    anchor.href = address;
    anchor.download = `${state.value?.server.name ?? 'messages'}-${new Date().toISOString().replace(/[:.]/g, '-')}.ndjson`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  const load = async (input: HTMLInputElement): Promise<void> => {
    const chosen = input.files?.[0];
    if (chosen === undefined) return;
    const headers = { 'Content-Type': 'application/x-ndjson' };
    await send('import', { method: 'POST', body: chosen, headers });
    input.value = '';
  };
  return (
    <>
      <button type="button" onClick={() => void attempt(save)}>
        Export
      </button>
      <button type="button" onClick={() => file.current?.click()}>
        Import
      </button>
      <input
        ref={file}
        type="file"
        class="sr-only"
        tabIndex={-1}
        aria-label="Recording to import"
        accept=".ndjson,application/x-ndjson"
        onChange={(event) => void attempt(() => load(event.currentTarget))}
      />
      <button type="button" onClick={clearRows}>
        Clear
      </button>
    </>
  );
}

/** Tells screen readers what arrived since the last time, without details. */
function useSummary(): void {
  const last = useRef({ received: rows.received, errors: rows.errors });
  useSignalEffect(() => {
    rowsVersion.value;
    const messages = rows.received - last.current.received;
    const errors = rows.errors - last.current.errors;
    if (messages > 0) announce(`${plural(messages, 'message')}, ${plural(errors, 'error')}`);
  });
  useEffect(() => {
    const timer = setInterval(() => {
      last.current = { received: rows.received, errors: rows.errors };
    }, 10_000);
    return () => clearInterval(timer);
  }, []);
}
