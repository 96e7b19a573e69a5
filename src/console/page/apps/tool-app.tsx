// The app of a tool, below its result: the frame, switches for its author, and what the app did.

import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { JsonObject } from '../../api.ts';
import { argumentsOf, shownCalls } from '../calls/calls.ts';
import { Badge, Notice, Problem, Text } from '../components/basics.tsx';
import { state } from '../feed.ts';
import { plural } from '../format.ts';
import { revision } from '../lists.ts';
import { route } from '../router.ts';
import { theme } from '../theme.ts';
import { AppConnection, type AppEvent } from './app-connection.ts';
import { type AppSettings, initialSettings, themeOf } from './host-context.ts';

/** The URI of the app of a tool, and who may call the tool. */
export function uiOf(tool: JsonObject): { readonly uri: string | undefined; readonly isForAppsOnly: boolean } {
  const meta = tool['_meta'] as JsonObject | undefined;
  const ui = meta?.['ui'] as JsonObject | undefined;
  // The flat name is deprecated; servers of the draft still use it.
  const uri = ui?.['resourceUri'] ?? meta?.['ui/resourceUri'];
  const visibility = ui?.['visibility'];
  return {
    uri: typeof uri === 'string' && uri.startsWith('ui://') ? uri : undefined,
    isForAppsOnly: Array.isArray(visibility) && !visibility.includes('model'),
  };
}

/** The app for the last call of a tool. */
export function ToolApp({ tool, place }: { tool: JsonObject; place: string }): JSX.Element | null {
  const { uri } = uiOf(tool);
  const call = shownCalls.value.get(place);
  const closed = useSignal<string | undefined>(undefined);
  const replays = useSignal(0);
  if (uri === undefined || call === undefined || closed.value === call) return null;
  if (state.value?.sandboxOrigin === undefined) {
    return (
      <Notice>
        This tool has an app, <Text text={uri} />. To show it, open the console on a loopback address, or start the
        server with <code>--console-sandbox-origin</code>.
      </Notice>
    );
  }
  return (
    <AppCard
      key={`${call} ${replays.value}`}
      place={place}
      uri={uri}
      tool={tool}
      call={call}
      onReplay={() => (replays.value += 1)}
      onClose={() => (closed.value = call)}
    />
  );
}

interface AppCardProps {
  readonly place: string;
  readonly uri: string;
  readonly tool: JsonObject;
  readonly call: string;
  readonly onReplay: () => void;
  readonly onClose: () => void;
}

function AppCard({ place, uri, tool, call, onReplay, onClose }: AppCardProps): JSX.Element {
  const settings = useSignal<AppSettings>(initialSettings());
  const holder = useRef<HTMLDivElement>(null);
  const { screen, item } = useMemo(() => route.value, []);
  // The app ends before its card is removed: without its frame it could not answer.
  const close = (): void => {
    void connection.end('The app was closed');
    onClose();
  };
  const connection: AppConnection = useMemo(() => {
    const args = argumentsOf(call);
    return new AppConnection({
      uri,
      tool,
      revision: revision.value,
      call,
      args,
      settings: settings.value,
      onClose: close,
    });
  }, []);
  useEffect(() => {
    if (holder.current !== null) void connection.start(holder.current);
    return () => void connection.end('The app was closed');
  }, []);
  useSignalEffect(() => {
    const isHere = route.value.screen === screen && route.value.item === item;
    if (!isHere) void connection.end('Another screen is shown');
    else if (shownCalls.value.get(place) !== call) void connection.end('The tool runs again');
  });
  useSignalEffect(() => {
    theme.value;
    connection.contextChanged(settings.value);
  });
  const replay = (): void => {
    void connection.end('The app is shown again');
    onReplay();
  };
  const { view, problem, height, question, events, isReady } = connection;
  const frame = useComputed(() => ({
    height: `${height.value}px`,
    ...(settings.value.width === undefined ? {} : { width: `${settings.value.width}px` }),
    colorScheme: themeOf(settings.value),
  }));
  const hasBorder = view.value?.prefersBorder !== false;
  return (
    <section class="card app-card" aria-label="App" aria-busy={!isReady.value}>
      <header class="result-heading">
        <h2>App</h2>
        <span class="muted">
          <Text text={uri} />
        </span>
        <Switches
          settings={settings.value}
          onChange={(next) => {
            settings.value = next;
          }}
        />
        <button type="button" class="small" onClick={replay}>
          Replay
        </button>
        <button type="button" class="small" onClick={close}>
          Close app
        </button>
      </header>
      {problem.value !== undefined && <Problem message={problem.value} />}
      {question.value !== undefined && (
        <div class="notice warning app-question" role="alert">
          <p>
            {question.value.text} <code>{question.value.detail}</code>
          </p>
          <button type="button" class="small primary" onClick={() => question.value?.answer(true)}>
            {question.value.accept}
          </button>
          <button type="button" class="small" onClick={() => question.value?.answer(false)}>
            Deny
          </button>
        </div>
      )}
      <div ref={holder} class={hasBorder ? 'app-frame has-border' : 'app-frame'} style={frame.value} />
      <Events events={events.value} />
    </section>
  );
}

const widths = [undefined, 768, 375] as const;
const locales = ['en-US', 'de-DE', 'ja-JP', 'ar-EG'] as const;

interface SwitchesProps {
  readonly settings: AppSettings;
  readonly onChange: (settings: AppSettings) => void;
}

/** Shows the author how the app reacts to other hosts. */
function Switches({ settings, onChange }: SwitchesProps): JSX.Element {
  return (
    <>
      <label class="inline">
        <span>App theme</span>
        <select
          value={settings.theme}
          onChange={(event) => onChange({ ...settings, theme: event.currentTarget.value as AppSettings['theme'] })}
        >
          <option value="console">as here</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <label class="inline">
        <span>Width</span>
        <select
          value={String(settings.width)}
          onChange={(event) => {
            const chosen = Number(event.currentTarget.value);
            onChange({ ...settings, width: Number.isNaN(chosen) ? undefined : chosen });
          }}
        >
          {widths.map((width) => (
            <option key={String(width)} value={String(width)}>
              {width === undefined ? 'full' : `${width} px`}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        <span>Language</span>
        <select
          value={settings.locale}
          onChange={(event) => onChange({ ...settings, locale: event.currentTarget.value })}
        >
          {[...new Set([navigator.language, ...locales])].map((locale) => (
            <option key={locale}>{locale}</option>
          ))}
        </select>
      </label>
    </>
  );
}

const kinds: Readonly<Record<AppEvent['kind'], readonly [string, 'neutral' | 'accent' | 'bad' | 'warning']>> = {
  message: ['message to the model', 'accent'],
  context: ['context for the model', 'accent'],
  log: ['log', 'neutral'],
  blocked: ['blocked', 'bad'],
  note: ['note', 'warning'],
};

function Events({ events }: { events: readonly AppEvent[] }): JSX.Element | null {
  if (events.length === 0) return null;
  return (
    <details class="logs" open>
      <summary>{plural(events.length, 'event')}</summary>
      <ul aria-label="Events of the app">
        {events.map(({ kind, text }, index) => (
          <li key={index}>
            <Badge tone={kinds[kind][1]}>{kinds[kind][0]}</Badge> <Text text={text} />
          </li>
        ))}
      </ul>
    </details>
  );
}
