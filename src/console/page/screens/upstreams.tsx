// Upstreams: the servers behind a gateway, what they offer before and after its rules, and changes that wait for acceptance.

import { useSignal } from '@preact/signals';
import { Fragment, type JSX } from 'preact';
import type { UpstreamRow } from '../../api.ts';
import { Badge, Empty, Heading, Problem, Text, type Tone, useLoaded } from '../components/basics.tsx';
import { LongText } from '../components/json-view.tsx';
import { state } from '../feed.ts';
import { dateTime, duration, number, plural } from '../format.ts';
import { link } from '../router.ts';
import { get, post } from '../server.ts';

const refreshMs = 2_000;

const tones: Readonly<Record<string, Tone>> = {
  ready: 'good',
  idle: 'neutral',
  disabled: 'neutral',
  starting: 'accent',
  degraded: 'warning',
  'needs-login': 'warning',
  down: 'bad',
};

export function Upstreams(): JSX.Element {
  const load = (): Promise<{ upstreams: readonly UpstreamRow[] }> => get('upstreams');
  const { value, problem, reload } = useLoaded('upstreams', load, refreshMs);
  const failed = useSignal<string | undefined>(undefined);
  const operate = async (verb: string, id: string, tool?: string): Promise<void> => {
    failed.value = undefined;
    try {
      await post(`operate/${verb}`, { id, ...(tool === undefined ? {} : { value: tool }) });
    } catch (error) {
      failed.value = (error as Error).message;
    }
    reload();
  };
  const shown = problem ?? failed.value;
  return (
    <>
      <Heading title="Upstreams" />
      {shown !== undefined && <Problem message={shown} />}
      {value?.upstreams.length === 0 && <Empty title="There is no server behind this gateway." />}
      {value?.upstreams.map((upstream) => (
        <Upstream key={upstream.slug} upstream={upstream} operate={operate} />
      ))}
    </>
  );
}

interface UpstreamProps {
  readonly upstream: UpstreamRow;
  readonly operate: (verb: string, id: string, tool?: string) => Promise<void>;
}

function Upstream({ upstream, operate }: UpstreamProps): JSX.Element {
  const { slug, name, state: status, since, reason, revision, restarts, connections, pid } = upstream;
  const { inFlight, queued = 0, p50Ms, p99Ms } = upstream;
  const canOperate = state.value?.rights.includes('operate') === true;
  return (
    <section class="card upstream" aria-label={slug}>
      <header class="result-heading">
        <h2>
          <Text text={slug} />
        </h2>
        <Badge tone={tones[status] ?? 'neutral'}>{status}</Badge>
        <span class="muted">since {dateTime(since)}</span>
        <a href={link('timeline', undefined, { q: `peer:${slug}` })}>Show messages</a>
        {canOperate && status !== 'disabled' && (
          <button type="button" class="small" onClick={() => void operate('restart-upstream', slug)}>
            Restart
          </button>
        )}
      </header>
      {reason !== undefined && <Problem message={reason} />}
      <dl class="facts">
        {name !== slug && (
          <>
            <dt>Name</dt>
            <dd>
              <Text text={name} />
            </dd>
          </>
        )}
        <dt>Revision</dt>
        <dd>{revision ?? '–'}</dd>
        <dt>Connections</dt>
        <dd>
          {number(connections)} open, {plural(restarts, 'restart')}
          {pid !== undefined && `, process ${pid}`}
        </dd>
        <dt>Calls</dt>
        <dd>
          {number(inFlight)} in flight, {queued === 0 ? 'none' : `${number(queued)} of them`} waiting for a connection
        </dd>
        <dt>Duration</dt>
        <dd>
          {p50Ms === undefined || p99Ms === undefined
            ? 'no calls yet'
            : `median ${duration(p50Ms)}, 99th percentile ${duration(p99Ms)}`}
        </dd>
      </dl>
      <Pins upstream={upstream} operate={operate} canOperate={canOperate} />
      <Lists upstream={upstream} />
      {upstream.ambiguousInput === true && (
        <p class="muted">
          Its input requests could belong to several callers, and were rejected. Set <code>"isolation": "session"</code>{' '}
          in its entry.
        </p>
      )}
      {upstream.noise !== undefined && (
        <p class="muted">
          It prints text that is not a message: <Text text={upstream.noise} />
        </p>
      )}
      {upstream.stderr !== undefined && upstream.stderr !== '' && (
        <details>
          <summary>Last lines of stderr</summary>
          <LongText text={upstream.stderr} />
        </details>
      )}
    </section>
  );
}

/** Tools that are not as they were accepted, with what is different. */
function Pins({ upstream, operate, canOperate }: UpstreamProps & { readonly canOperate: boolean }): JSX.Element | null {
  const { slug, pins } = upstream;
  if (pins.length === 0) return null;
  return (
    <div class="notice warning pins">
      <h3>{plural(pins.length, 'tool')} to accept</h3>
      <ul>
        {pins.map(({ tool, kind, differences }) => (
          <li key={tool}>
            <details>
              <summary>
                <strong>
                  <Text text={tool} />
                </strong>{' '}
                <Badge tone="warning">{kind}</Badge>
              </summary>
              <dl class="facts">
                {differences.map(({ path, before, after }) => (
                  <Fragment key={path}>
                    <dt>
                      <Text text={path} />
                    </dt>
                    <dd>
                      {before !== undefined && (
                        <del>
                          <Text text={before} />
                        </del>
                      )}{' '}
                      {after !== undefined && (
                        <ins>
                          <Text text={after} />
                        </ins>
                      )}
                    </dd>
                  </Fragment>
                ))}
              </dl>
            </details>
            {canOperate && (
              <button
                type="button"
                class="small"
                aria-label={`Accept ${tool}`}
                onClick={() => void operate('accept-tool', slug, tool)}
              >
                Accept
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Names before and after the rules of the gateway. */
function Lists({ upstream: { tools } }: { upstream: UpstreamRow }): JSX.Element {
  if (tools.length === 0) return <p class="muted">No tools are known.</p>;
  const hidden = tools.filter(({ exposed }) => exposed === undefined).length;
  return (
    <details>
      <summary>
        {plural(tools.length, 'tool')}
        {hidden > 0 && `, ${hidden} not shown to clients`}
      </summary>
      <div class="table-scroller">
        <table>
          <thead>
            <tr>
              <th scope="col">Name on the server</th>
              <th scope="col">Name for clients</th>
            </tr>
          </thead>
          <tbody>
            {tools.map(({ original, exposed, withheld }) => (
              <tr key={original}>
                <td>
                  <Text text={original} />
                </td>
                <td>
                  {exposed !== undefined ? (
                    <Text text={exposed} />
                  ) : (
                    <Badge tone={withheld === true ? 'warning' : 'neutral'}>
                      {withheld === true ? 'withheld' : 'hidden'}
                    </Badge>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
