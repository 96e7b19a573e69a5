// Sessions: who is connected, with what, and what is open.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { SessionRow } from '../../api.ts';
import { Badge, Empty, Heading, Problem, Text, useLoaded } from '../components/basics.tsx';
import { state } from '../feed.ts';
import { dateTime } from '../format.ts';
import { link } from '../router.ts';
import { get, post } from '../server.ts';
import { Peer } from '../timeline/peer.tsx';

const refreshMs = 2_000;

export function Sessions(): JSX.Element {
  const load = (): Promise<{ sessions: readonly SessionRow[] }> => get('sessions');
  const { value, problem, reload } = useLoaded('sessions', load, refreshMs);
  const failed = useSignal<string | undefined>(undefined);
  const canOperate = state.value?.rights.includes('operate') === true;
  const sessions = value?.sessions ?? [];
  const end = async (key: string): Promise<void> => {
    try {
      await post('operate/end-session', { id: key });
      failed.value = undefined;
      reload();
    } catch (error) {
      failed.value = (error as Error).message;
    }
  };
  const shown = problem ?? failed.value;
  return (
    <>
      <Heading title="Sessions" />
      {shown !== undefined && <Problem message={shown} />}
      {value !== undefined && sessions.length === 0 && (
        <Empty title="No client is connected.">
          <p>Clients that open a session, a pipe or a socket appear here.</p>
        </Empty>
      )}
      {sessions.length > 0 && (
        <section class="table-scroller card" aria-label="Open sessions" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {[
                  'Client',
                  'Transport',
                  'Revision',
                  'Principal',
                  'Capabilities',
                  'Log level',
                  'Subscriptions',
                  'Streams',
                  'Last message',
                ].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                {canOperate && <th scope="col">Actions</th>}
              </tr>
            </thead>
            <tbody>
              {sessions.map((session) => (
                <tr key={session.key}>
                  <td>
                    <SessionName session={session} />
                  </td>
                  <td>{session.transport}</td>
                  <td class="no-wrap">{session.revision ?? '–'}</td>
                  <td>
                    <Text text={session.principal ?? '–'} />
                  </td>
                  <td>
                    <div class="badges">
                      {session.capabilities.map((each) => (
                        <Badge key={each}>
                          <Text text={each} />
                        </Badge>
                      ))}
                    </div>
                  </td>
                  <td>{session.level ?? '–'}</td>
                  <td>{session.subscriptions}</td>
                  <td>{session.streams}</td>
                  <td class="no-wrap">{dateTime(session.lastSeen)}</td>
                  {canOperate && (
                    <td>
                      <button
                        type="button"
                        disabled={!session.canEnd}
                        title={session.canEnd ? undefined : 'It ends when its client disconnects'}
                        class="small danger"
                        aria-label={`End session of ${session.client ?? session.key}`}
                        onClick={() => void end(String(session.peer ?? session.key))}
                      >
                        End
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

function SessionName({ session }: { session: SessionRow }): JSX.Element {
  if (session.peer === undefined) return <Text text={session.client ?? session.key} />;
  const info = { number: session.peer, transport: session.transport, client: session.client ?? session.key };
  return (
    <a href={link('timeline', undefined, { q: `peer:${session.peer}` })}>
      <Peer peer={info} number={session.peer} />
    </a>
  );
}
