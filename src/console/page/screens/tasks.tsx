// Tasks: a board by status, and one task in full.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { TaskRow } from '../../api.ts';
import { Badge, Dialog, Empty, Heading, Problem, Text, type Tone, useLoaded } from '../components/basics.tsx';
import { JsonText } from '../components/json-view.tsx';
import { state } from '../feed.ts';
import { dateTime, duration, plural } from '../format.ts';
import { go, link, route } from '../router.ts';
import { get, post } from '../server.ts';

const refreshMs = 1_000;

const columns: readonly { readonly status: string; readonly title: string; readonly tone: Tone }[] = [
  { status: 'working', title: 'Working', tone: 'accent' },
  { status: 'input_required', title: 'Input required', tone: 'warning' },
  { status: 'completed', title: 'Completed', tone: 'good' },
  { status: 'failed', title: 'Failed', tone: 'bad' },
  { status: 'cancelled', title: 'Cancelled', tone: 'neutral' },
];
const finished = new Set(['completed', 'failed', 'cancelled']);

export function Tasks(): JSX.Element {
  const { value, problem, reload } = useLoaded('tasks', () => get<{ tasks: readonly TaskRow[] }>('tasks'), refreshMs);
  const tasks = value?.tasks ?? [];
  const chosen = tasks.find((task) => task.id === route.value.item);
  const other = [...new Set(tasks.map((task) => task.status))].filter(
    (status) => !columns.some((column) => column.status === status),
  );
  const all = [...columns, ...other.map((status) => ({ status, title: status, tone: 'neutral' as const }))];
  return (
    <>
      <Heading title="Tasks" />
      {problem !== undefined && <Problem message={problem} />}
      {value !== undefined && tasks.length === 0 && (
        <Empty title="There are no tasks.">
          <p>A tool that runs as a task appears here, with its steps and its outcome.</p>
        </Empty>
      )}
      {tasks.length > 0 && (
        <div class="board">
          {all.map((column) => {
            const members = tasks.filter((task) => task.status === column.status);
            return (
              <section key={column.status} aria-label={column.title}>
                <h2>
                  <Badge tone={column.tone}>{column.title}</Badge> <span class="muted">{members.length}</span>
                </h2>
                <ul class="plain">
                  {members.map((task) => (
                    <TaskCard key={task.id} task={task} />
                  ))}
                </ul>
              </section>
            );
          })}
        </div>
      )}
      {chosen !== undefined && <TaskDialog task={chosen} onChange={reload} />}
    </>
  );
}

const age = (at: string): string => duration(Math.max(0, Date.now() - new Date(at).getTime()));

function TaskCard({ task }: { task: TaskRow }): JSX.Element {
  const open = task.inputs.filter((input) => input.open).length;
  return (
    <li class="card task">
      <a href={link('tasks', task.id)}>
        <Text text={task.tool} />
      </a>
      <p class="muted">
        <code>{task.id.slice(0, 8)}</code> · {age(task.createdAt)} old
        {task.attempt > 1 && ` · attempt ${task.attempt}`}
      </p>
      {task.message !== undefined && (
        <p>
          <Text text={task.message} />
        </p>
      )}
      {open > 0 && <Badge tone="warning">{plural(open, 'open input request')}</Badge>}
    </li>
  );
}

function TaskDialog({ task, onChange }: { task: TaskRow; onChange: () => void }): JSX.Element {
  const problem = useSignal<string | undefined>(undefined);
  const canOperate = state.value?.rights.includes('operate') === true;
  const close = (): void => go(link('tasks'));
  const cancel = async (): Promise<void> => {
    try {
      await post('operate/cancel-task', { id: task.id });
      onChange();
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  const facts: [string, string][] = [
    ['Id', task.id],
    ['Status', task.status],
    ['Owner', task.owner ?? '–'],
    ['Attempt', String(task.attempt)],
    ['Created', dateTime(task.createdAt)],
    ['Changed', dateTime(task.updatedAt)],
    ['Kept for', task.ttlMs === null ? 'no limit' : duration(task.ttlMs)],
  ];
  return (
    <Dialog title={`Task of ${task.tool}`} onClose={close} wide>
      {problem.value !== undefined && <Problem message={problem.value} />}
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <Text text={value} />
            </dd>
          </>
        ))}
      </dl>
      {task.steps.length > 0 && (
        <>
          <h3>Finished steps</h3>
          <ol>
            {task.steps.map((step) => (
              <li key={step}>
                <Text text={step} />
              </li>
            ))}
          </ol>
        </>
      )}
      {task.inputs.length > 0 && (
        <>
          <h3>Input requests</h3>
          <ul class="plain">
            {task.inputs.map((input) => (
              <li key={input.key}>
                <code>{input.method}</code>{' '}
                <Badge tone={input.open ? 'warning' : 'good'}>{input.open ? 'open' : 'answered'}</Badge>
              </li>
            ))}
          </ul>
        </>
      )}
      {task.outcomeText !== undefined && (
        <>
          <h3>Outcome</h3>
          <JsonText text={task.outcomeText} />
        </>
      )}
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
        {canOperate && !finished.has(task.status) && (
          <button type="button" class="danger" onClick={() => void cancel()}>
            Cancel task
          </button>
        )}
      </div>
    </Dialog>
  );
}
