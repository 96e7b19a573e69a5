// Overview: what runs here, how busy it is, who is connected, how to connect, what failed last.

import type { JSX } from 'preact';
import { Badge, CopyButton, Empty, Heading, Text } from '../components/basics.tsx';
import { connection, feedStatus, rates, rows, rowsVersion, state } from '../feed.ts';
import { dateTime, duration, number, rate, time } from '../format.ts';
import { isNegotiated } from '../lists.ts';
import { link } from '../router.ts';
import { peerClass } from '../timeline/peer.tsx';

const shownErrors = 6;

const modes = {
  embedded: 'This process serves clients; the console sees all of their messages.',
  inspect: 'Connected to this server as a client.',
  relay: 'Between a client and this server; messages pass unchanged.',
  recording: 'A recording. Nothing is running.',
} as const;

export function Overview(): JSX.Element {
  rowsVersion.value;
  const current = state.value;
  if (current === undefined) {
    return (
      <>
        <Heading title="Overview" />
        <p class="muted">{feedStatus.value === 'lost' ? 'The server does not respond.' : 'Loading…'}</p>
      </>
    );
  }
  const { server } = current;
  return (
    <>
      <Heading title="Overview" />
      <section class="card hero" aria-label="Server">
        <p class="server-name">
          <Text text={server.title ?? server.name} /> <span class="muted">{server.version}</span>
        </p>
        <p class="muted">{modes[current.mode]}</p>
        <dl class="facts">
          <dt>Started</dt>
          <dd>
            {dateTime(current.startedAt)}{' '}
            <span class="muted">({duration(Date.now() - new Date(current.startedAt).getTime())} ago)</span>
          </dd>
          <dt>{isNegotiated.value ? 'Revision' : 'Revisions'}</dt>
          <dd class="badges">
            {/* What an inspected server supports is not known; the console can ask for any revision. */}
            {(isNegotiated.value ? [connection.value?.revision ?? '–'] : current.revisions).map((each) => (
              <Badge key={each}>{each}</Badge>
            ))}
          </dd>
          <dt>Your rights</dt>
          <dd class="badges">
            {current.rights.map((each) => (
              <Badge key={each} tone="accent">
                {each}
              </Badge>
            ))}
          </dd>
        </dl>
      </section>
      <Numbers />
      <div class="columns">
        <Clients />
        <Errors />
      </div>
      <Snippets />
    </>
  );
}

function Numbers(): JSX.Element {
  const now = rates.value;
  const tiles: [string, string, boolean?][] = [
    ['Calls per second', now === undefined ? '–' : rate(now.callsPerSecond)],
    ['Errors per second', now === undefined ? '–' : rate(now.errorsPerSecond), (now?.errorsPerSecond ?? 0) > 0],
    ['Median', now === undefined ? '–' : duration(now.p50Ms)],
    ['99th percentile', now === undefined ? '–' : duration(now.p99Ms)],
    ['Clients', now === undefined ? '–' : number(now.peers)],
    ['Open streams', now === undefined ? '–' : number(now.streams)],
    ['Messages', number(rows.received)],
  ];
  return (
    <section aria-label="Now">
      <h2>Now</h2>
      <dl class="tiles">
        {tiles.map(([name, value, isBad]) => (
          <div key={name} class={isBad === true ? 'tile bad' : 'tile'}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Clients(): JSX.Element {
  const peers = [...rows.peers.values()].reverse().slice(0, 12);
  return (
    <section class="card" aria-label="Clients">
      <h2>Clients</h2>
      {peers.length === 0 ? (
        <Empty title="No client has connected yet.">
          <p>Connect one, or run a tool from here.</p>
        </Empty>
      ) : (
        <ul class="plain">
          {peers.map((peer) => (
            <li key={peer.number} class="peer-line">
              <span class={`peer-dot ${peerClass(peer.number)}`} aria-hidden="true" />
              <a href={link('timeline', undefined, { q: `peer:${peer.number}` })}>
                <Text text={peer.client ?? `Client ${peer.number}`} />
              </a>
              <span class="muted">
                {peer.transport} {peer.revision}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Errors(): JSX.Element {
  const errors = rows.newestErrors(shownErrors);
  return (
    <section class="card" aria-label="Latest errors">
      <h2>Latest errors</h2>
      {errors.length === 0 ? (
        <Empty title="No errors." />
      ) : (
        <ul class="plain">
          {errors.map((row) => (
            <li key={row.key} class="error-line">
              <span class="muted">{time(row.entry.at)}</span>
              <a href={link('timeline', undefined, { entry: String(row.entry.number), q: 'is:error' })}>
                <Text text={row.entry.method ?? 'Invalid message'} /> <Text text={row.entry.name ?? ''} />
              </a>
              <Badge tone="bad">{row.response?.code ?? row.entry.code ?? row.response?.outcome ?? 'error'}</Badge>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Snippets(): JSX.Element | null {
  const snippets = state.value?.snippets ?? [];
  if (snippets.length === 0) return null;
  return (
    <section class="card" aria-label="Connect a client">
      <h2>Connect a client</h2>
      {snippets.map((snippet) => (
        <div key={snippet.title} class="snippet">
          <header>
            <h3>{snippet.title}</h3>
            <CopyButton text={snippet.text} />
          </header>
          <pre class="text">{snippet.text}</pre>
        </div>
      ))}
    </section>
  );
}
