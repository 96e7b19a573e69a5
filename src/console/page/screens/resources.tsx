// Resources and templates: the list by scheme, and what reading one returns.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { JsonObject } from '../../api.ts';
import { announce } from '../announce.ts';
import { startCall } from '../calls/calls.ts';
import { Result } from '../calls/result.tsx';
import { Badge, CopyButton, Problem, Text } from '../components/basics.tsx';
import { state, subscriptions } from '../feed.ts';
import { bytes, plural, time } from '../format.ts';
import { lists, revision } from '../lists.ts';
import { post } from '../server.ts';
import { Catalog, text } from './catalog.tsx';
import { expandTemplate, templateVariables } from './uri-template.ts';
import { type FormValues, ValuesForm } from './values-form.tsx';

export function Resources(): JSX.Element {
  const resources = lists.value?.resources ?? [];
  const templates = lists.value?.resourceTemplates ?? [];
  const entryOf = (item: JsonObject, uri: string, isTemplate: boolean) => ({
    name: uri,
    title: text(item['title']) ?? text(item['name']),
    description: text(item['description']),
    group: `${/^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0] ?? ''}${isTemplate ? ' templates' : ''}`,
    marks: (
      <>
        {isTemplate && <Badge tone="accent">template</Badge>}
        <Followed uri={uri} />
      </>
    ),
  });
  const entries = [
    ...resources.map((item) => entryOf(item, String(item['uri']), false)),
    ...templates.map((item) => entryOf(item, String(item['uriTemplate']), true)),
  ];
  const detail = (uri: string): JSX.Element => {
    const template = templates.find((each) => each['uriTemplate'] === uri);
    if (template !== undefined) return <Template key={uri} template={template} />;
    // A URI that is not listed can still be read.
    return <Resource key={uri} uri={uri} item={resources.find((each) => each['uri'] === uri)} />;
  };
  return (
    <Catalog
      title="Resources"
      screen="resources"
      noun="resource"
      entries={entries}
      emptyText="This server has no resources."
      detail={detail}
    />
  );
}

function Facts({ item }: { item: JsonObject | undefined }): JSX.Element | null {
  if (item === undefined) return null;
  const size = item['size'];
  return (
    <>
      {text(item['description']) !== undefined && (
        <p class="description">
          <Text text={item['description'] as string} />
        </p>
      )}
      <p class="muted">
        <Text text={text(item['mimeType']) ?? ''} /> {typeof size === 'number' && bytes(size)}
      </p>
    </>
  );
}

/** A live mark for a resource that is followed. */
function Followed({ uri }: { uri: string }): JSX.Element | null {
  const row = subscriptions.value.get(uri);
  if (row === undefined) return null;
  if (row.problem !== undefined) return <Badge tone="bad">subscription ended</Badge>;
  return <Badge tone="good">{row.changes === 0 ? 'subscribed' : plural(row.changes, 'change')}</Badge>;
}

/** Subscribes and unsubscribes, and shows the changes since then. On request, a changed resource is read immediately. */
function Subscription({ uri, onChange }: { uri: string; onChange: () => void }): JSX.Element {
  const row = subscriptions.value.get(uri);
  const problem = useSignal<string | undefined>(undefined);
  const readsAgain = useSignal(false);
  const isFollowed = row !== undefined && row.problem === undefined;
  const seen = useRef(row?.changes ?? 0);
  useEffect(() => {
    const changes = row?.changes ?? 0;
    if (changes > seen.current) {
      announce(`${uri} has changed`);
      if (readsAgain.value) onChange();
    }
    seen.current = changes;
  }, [row?.changes]);
  const toggle = async (): Promise<void> => {
    problem.value = undefined;
    try {
      if (isFollowed) await post('subscriptions/end', { uri });
      else await post('subscriptions', { uri, revision: revision.value });
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  const canTry = state.value?.rights.includes('try') === true;
  return (
    <section class="subscription" aria-label="Subscription">
      <button type="button" disabled={!canTry || uri === ''} onClick={() => void toggle()}>
        {isFollowed ? 'Unsubscribe' : 'Subscribe'}
      </button>
      {isFollowed && (
        <>
          <label class="inline">
            <input
              type="checkbox"
              checked={readsAgain.value}
              onChange={(event) => {
                readsAgain.value = event.currentTarget.checked;
              }}
            />
            <span>Read after each change</span>
          </label>
          <span role="status" class={row.changes === 0 ? 'muted' : undefined}>
            {row.changes === 0 ? 'No change yet' : plural(row.changes, 'change')}
            {row.changedAt !== undefined && `, the last at ${time(row.changedAt)}`}
          </span>
        </>
      )}
      {row?.problem !== undefined && <Problem message={row.problem} />}
      {problem.value !== undefined && <Problem message={problem.value} />}
    </section>
  );
}

/** Reads a resource, and follows it. */
export function ReadButton({ uri }: { uri: string }): JSX.Element {
  const problem = useSignal<string | undefined>(undefined);
  const read = async (): Promise<void> => {
    problem.value = undefined;
    try {
      await startCall(`resource ${uri}`, { method: 'resources/read', params: { uri }, revision: revision.value });
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  const canTry = state.value?.rights.includes('try') === true;
  return (
    <>
      <div class="form-buttons">
        <button type="button" class="primary" disabled={!canTry || uri === ''} onClick={() => void read()}>
          Read
        </button>
        <CopyButton text={uri} label="Copy URI" />
      </div>
      <Subscription key={uri} uri={uri} onChange={() => void read()} />
      {problem.value !== undefined && <Problem message={problem.value} />}
    </>
  );
}

function Resource({ uri, item }: { uri: string; item: JsonObject | undefined }): JSX.Element {
  return (
    <article class="detail">
      <h2 class="uri">
        <Text text={uri} />
      </h2>
      <Facts item={item} />
      <ReadButton uri={uri} />
      <Result place={`resource ${uri}`} />
    </article>
  );
}

function Template({ template }: { template: JsonObject }): JSX.Element {
  const pattern = String(template['uriTemplate']);
  const values = useSignal<FormValues>({});
  const uri = expandTemplate(pattern, values.value);
  return (
    <article class="detail">
      <h2 class="uri">
        <Text text={pattern} />
      </h2>
      <Facts item={template} />
      <div class="card">
        <ValuesForm
          fields={templateVariables(pattern).map((name) => ({ name }))}
          reference={{ type: 'ref/resource', uri: pattern }}
          values={values.value}
          onChange={(next) => {
            values.value = next;
          }}
        />
        <p class="muted">
          URI: <code>{uri}</code>
        </p>
      </div>
      <ReadButton uri={uri} />
      <Result place={`resource ${uri}`} />
    </article>
  );
}
