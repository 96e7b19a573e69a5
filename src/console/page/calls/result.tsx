// A call and its outcome: progress and log messages while it runs, then its result or error.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CallUpdate, JsonObject } from '../../api.ts';
import { Badge, CopyButton, Notice, type Tab, Tabs, Text } from '../components/basics.tsx';
import { JsonText, JsonView } from '../components/json-view.tsx';
import { calls } from '../feed.ts';
import { bytes, duration, plural } from '../format.ts';
import { type ExactJson, parseJson } from '../forms/json-text.ts';
import { link } from '../router.ts';
import { shownScreens } from '../screens.ts';
import { cancelCall, shownCalls } from './calls.ts';
import { Content, ResourceContent } from './content.tsx';
import { DataTable, tableOf } from './data-table.tsx';

/** The result of the last call at a place, if there was one. */
export function Result({ place }: { place: string }): JSX.Element | null {
  const id = shownCalls.value.get(place);
  if (id === undefined) return null;
  const update: CallUpdate = calls.value.get(id) ?? { call: id, status: 'running' };
  const isOpen = update.status === 'running' || update.status === 'input-required';
  return (
    <section class="result card" aria-label="Result" aria-busy={isOpen}>
      <header class="result-heading">
        <h2>Result</h2>
        <Status update={update} />
        {update.durationMs !== undefined && <span class="muted">{duration(update.durationMs)}</span>}
        <Size text={update.resultText} />
        {update.entries?.[0] !== undefined && (
          <a href={link('timeline', undefined, { entry: String(update.entries[0]) })}>Show messages</a>
        )}
        {update.status === 'running' && (
          <button type="button" class="small" onClick={() => void cancelCall(id)}>
            Cancel
          </button>
        )}
      </header>
      <Progress update={update} />
      <Logs update={update} />
      {update.error !== undefined && (
        <Notice tone="bad">
          {update.error.code !== undefined && <Badge tone="bad">{update.error.code}</Badge>}{' '}
          <Text text={update.error.message} />
          {update.error.data !== undefined && <JsonText text={JSON.stringify(update.error.data)} />}
        </Notice>
      )}
      {update.taskId !== undefined && (
        <p>
          {isOpen ? 'Runs' : 'Ran'} as task{' '}
          {shownScreens.value.some(({ name }) => name === 'tasks') ? (
            <a href={link('tasks', update.taskId)}>{update.taskId}</a>
          ) : (
            <code>{update.taskId}</code>
          )}
        </p>
      )}
      {update.resultText !== undefined && <ResultText text={update.resultText} issues={update.outputIssues} />}
    </section>
  );
}

const statusTexts = {
  running: ['accent', 'Running'],
  'input-required': ['warning', 'Waiting for input'],
  done: ['good', 'Done'],
  failed: ['bad', 'Failed'],
  cancelled: ['neutral', 'Cancelled'],
} as const;

function Status({ update }: { update: CallUpdate }): JSX.Element {
  const isToolError = update.resultText !== undefined && /"isError":\s*true/.test(update.resultText);
  const [tone, label] = isToolError ? (['bad', 'Error'] as const) : statusTexts[update.status];
  return (
    <span role="status">
      <Badge tone={tone}>{label}</Badge>
    </span>
  );
}

function Size({ text }: { text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  const size = new TextEncoder().encode(text).length;
  return (
    <span class="muted" title="Roughly: a quarter of the bytes">
      {bytes(size)} · about {plural(Math.ceil(size / 4), 'token')}
    </span>
  );
}

function Progress({ update }: { update: CallUpdate }): JSX.Element | null {
  const { progress } = update;
  if (progress === undefined || update.status !== 'running') return null;
  return (
    <p class="progress">
      <progress aria-label="Progress" max={progress.total} value={progress.total && progress.progress} />
      <span>
        {progress.progress}
        {progress.total !== undefined && ` of ${progress.total}`} <Text text={progress.message ?? ''} />
      </span>
    </p>
  );
}

function Logs({ update }: { update: CallUpdate }): JSX.Element | null {
  const logs = update.logs ?? [];
  if (logs.length === 0) return null;
  return (
    <details class="logs">
      <summary>{plural(logs.length, 'log message')}</summary>
      <ul>
        {logs.map((log, index) => (
          <li key={index}>
            <Badge>{log.level}</Badge>{' '}
            <Text text={typeof log.data === 'string' ? log.data : JSON.stringify(log.data)} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A result as it was received, in the views that fit it. */
export function ResultText({ text, issues }: { text: string; issues?: readonly string[] }): JSX.Element {
  const result = useMemo(() => parsed(text), [text]);
  const list = (name: string): JsonObject[] => (Array.isArray(result[name]) ? (result[name] as JsonObject[]) : []);
  const tabs: Tab[] = [];
  const content = list('content');
  const messages = list('messages');
  const contents = list('contents');
  const structured = result['structuredContent'];
  if (content.length > 0) {
    tabs.push({
      name: 'Content',
      content: () => (
        <>
          {content.map((item, index) => (
            <Content key={index} item={item} />
          ))}
        </>
      ),
    });
  }
  if (contents.length > 0) {
    tabs.push({
      name: 'Contents',
      content: () => (
        <>
          {contents.map((item, index) => (
            <ResourceContent key={index} item={item} />
          ))}
        </>
      ),
    });
  }
  if (messages.length > 0) {
    tabs.push({
      name: 'Messages',
      content: () => (
        <>
          {messages.map((each, index) => (
            <Message key={index} message={each} />
          ))}
        </>
      ),
    });
  }
  if (structured !== undefined) {
    const table = tableOf(structured);
    if (table !== undefined) tabs.push({ name: 'Table', content: () => <DataTable table={table} /> });
    tabs.push({ name: 'Structured', content: () => <StructuredView text={text} /> });
  }
  tabs.push({
    name: 'Raw',
    content: () => (
      <>
        <JsonText text={text} />
        <CopyButton text={text} />
      </>
    ),
  });
  return (
    <>
      {issues !== undefined && issues.length === 0 && structured !== undefined && (
        <p class="muted">The structured content matches the output schema.</p>
      )}
      {issues !== undefined && issues.length > 0 && (
        <Notice tone="warning">
          The structured content does not match the output schema: <Text text={issues.join('; ')} />
        </Notice>
      )}
      <Tabs label="Views of the result" tabs={tabs} />
    </>
  );
}

/** The parsed object; empty if the text is not an object. */
function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

/** From the text, because JSON.parse changes large integers. */
function StructuredView({ text }: { text: string }): JSX.Element {
  const value = useMemo(() => {
    const whole = parseJson(text);
    return whole instanceof Map ? ((whole as ReadonlyMap<string, ExactJson>).get('structuredContent') ?? null) : null;
  }, [text]);
  return <JsonView value={value} />;
}

function Message({ message }: { message: JsonObject }): JSX.Element {
  const content = message['content'];
  const items = (Array.isArray(content) ? content : [content]) as JsonObject[];
  return (
    <div class="message">
      <p class="role">{String(message['role'])}</p>
      {items.map((item, index) => (
        <Content key={index} item={item ?? {}} />
      ))}
    </div>
  );
}
