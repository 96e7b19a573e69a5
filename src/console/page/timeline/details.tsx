// One row of the timeline in full: the messages as a tree and as they were, who sent them, and copies for elsewhere.

import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { FeedEntry } from '../../api.ts';
import { CopyButton, Notice, Tabs, Text, useLoaded } from '../components/basics.tsx';
import { Icon } from '../components/icons.tsx';
import { JsonText } from '../components/json-view.tsx';
import { rows, rowsVersion } from '../feed.ts';
import { bytes, duration, time } from '../format.ts';
import { link } from '../router.ts';
import { get } from '../server.ts';
import { Outcome } from './outcome.tsx';
import { Peer } from './peer.tsx';
import type { Row } from './rows.ts';

export function Details({ row, onClose }: { row: Row; onClose: () => void }): JSX.Element {
  rowsVersion.value;
  const { entry, response } = row;
  const peer = rows.peers.get(entry.peer);
  const facts: [string, string | undefined][] = [
    ['Time', time(entry.at)],
    ['Duration', response?.durationMs === undefined ? undefined : duration(response.durationMs)],
    ['Transport', peer?.transport],
    ['Revision', peer?.revision],
    ['Principal', peer?.principal],
    ['Session', peer?.session],
    ['Address', peer?.address],
    ['Size', bytes(entry.bytes + (response?.bytes ?? 0))],
  ];
  useEscape(onClose);
  return (
    <section class="details card" aria-label="Message">
      <header>
        <h2>
          <Text text={entry.method ?? entry.kind} /> <Text text={entry.name ?? ''} />
        </h2>
        <Outcome row={row} />
        <button type="button" class="icon-button" aria-label="Close message" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {entry.reason !== undefined && (
        <Notice tone="bad">
          <Text text={entry.reason} />
        </Notice>
      )}
      <dl class="facts compact">
        <dt>Client</dt>
        <dd>
          <Peer peer={peer} number={entry.peer} />
        </dd>
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <>
                <dt>{name}</dt>
                <dd>
                  <Text text={value} />
                </dd>
              </>
            ),
        )}
      </dl>
      <Message
        title={entry.kind === 'request' ? 'Request' : entry.kind === 'notification' ? 'Notification' : 'Message'}
        entry={entry}
      />
      {response !== undefined && <Message title="Response" entry={response} />}
      <footer class="form-buttons">
        <CopyButton label="Copy as transcript" text={() => transcript(row)} />
        {entry.method === 'tools/call' && entry.name !== undefined && (
          <a class="button small" href={link('tools', entry.name)}>
            Open tool
          </a>
        )}
      </footer>
    </section>
  );
}

function Message({ title, entry }: { title: string; entry: FeedEntry }): JSX.Element {
  // The feed leaves out long texts.
  const [isWanted, setWanted] = useState(entry.text === undefined);
  const whole = useLoaded(isWanted ? `entry ${entry.number}` : '', async () =>
    isWanted ? get<FeedEntry>(`entries/${entry.number}`) : entry,
  );
  const text = whole.value?.text ?? entry.text ?? '';
  const isCut = whole.value?.cut ?? entry.cut ?? false;
  return (
    <section class="message-view" aria-label={title}>
      <header>
        <h3>{title}</h3>
        <span class="muted">{bytes(entry.bytes)}</span>
        <CopyButton label="Copy" text={text} />
      </header>
      {isCut && (
        <p class="muted">
          The text was cut.{' '}
          {!isWanted && (
            <button type="button" class="link" onClick={() => setWanted(true)}>
              Load all of it
            </button>
          )}
        </p>
      )}
      <Tabs
        label={`Views of the ${title.toLowerCase()}`}
        tabs={[
          { name: 'Tree', content: () => <JsonText text={text} depth={4} /> },
          {
            name: 'Raw',
            content: () => (
              <pre class="text wrap">
                <Text text={text} />
              </pre>
            ),
          },
        ]}
      />
    </section>
  );
}

/** The notation of readable protocol transcripts: what a client sends and what it gets. */
function transcript(row: Row): string {
  const lines = (row.members ?? [row]).flatMap(({ entry, response }) => [entry, response]);
  return lines
    .filter((entry) => entry !== undefined)
    .sort((a, b) => a.number - b.number)
    .map((entry) => `${entry.direction === 'in' ? '>' : '<'} ${entry.text ?? ''}`)
    .join('\n');
}

function useEscape(action: () => void): void {
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) action();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
