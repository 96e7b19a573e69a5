// The frame of the page: navigation, notices about the connection, the screen.

import { useSignal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ScreenName } from '../api.ts';
import { setToken } from './access.ts';
import { announcement } from './announce.ts';
import { InputDialogs } from './calls/input-dialog.tsx';
import { Empty, Heading, Notice, Text } from './components/basics.tsx';
import { Icon } from './components/icons.tsx';
import { connection, feedStatus, state } from './feed.ts';
import { openKeys, openPalette, Palette } from './palette.tsx';
import { link, route } from './router.ts';
import { About } from './screens/about.tsx';
import { Audit } from './screens/audit.tsx';
import { Auth } from './screens/auth.tsx';
import { Overview } from './screens/overview.tsx';
import { Prompts } from './screens/prompts.tsx';
import { Resources } from './screens/resources.tsx';
import { Sessions } from './screens/sessions.tsx';
import { Skills } from './screens/skills.tsx';
import { Tasks } from './screens/tasks.tsx';
import { Tools } from './screens/tools.tsx';
import { Upstreams } from './screens/upstreams.tsx';
import { screens, shownScreens } from './screens.ts';
import { accessProblem } from './server.ts';
import { type Theme, theme, themes } from './theme.ts';
import { Timeline } from './timeline/timeline.tsx';

const components: Partial<Record<ScreenName, ComponentType>> = {
  overview: Overview,
  timeline: Timeline,
  tools: Tools,
  resources: Resources,
  prompts: Prompts,
  skills: Skills,
  tasks: Tasks,
  sessions: Sessions,
  upstreams: Upstreams,
  metrics: MetricsLoader,
  audit: Audit,
  auth: Auth,
  about: About,
};

export function App(): JSX.Element {
  if (accessProblem.value !== undefined) return <AccessForm />;
  const { screen } = route.value;
  const Screen = components[screen as ScreenName];
  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <Notices />
        {Screen === undefined ? <Unknown /> : <Screen key={screen} />}
      </main>
      <InputDialogs />
      <Palette />
      <Title />
      <p class="sr-only" aria-live="polite">
        {announcement.value}
      </p>
    </div>
  );
}

function Unknown(): JSX.Element {
  return (
    <>
      <Heading title="Console" />
      <Empty title="There is no such screen." />
    </>
  );
}

/** The title of the tab, and the focus after going to another screen. */
function Title(): null {
  const isFirst = useRef(true);
  const { screen } = route.value;
  const title = screens.find(({ name }) => name === screen)?.title ?? 'Console';
  const server = state.value?.server.name;
  useEffect(() => {
    document.title = server === undefined ? `${title} · Mooring` : `${title} · ${server} · Mooring`;
  }, [title, server]);
  useEffect(() => {
    if (!isFirst.current) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    // On a narrow page the navigation is one line that scrolls.
    document.querySelector('.side a[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    isFirst.current = false;
  }, [screen]);
  return null;
}

function Navigation(): JSX.Element {
  return (
    <header class="side">
      <p class="brand">
        <span class="logo" aria-hidden="true" />
        <span class="brand-name">
          <Text text={state.value?.server.title ?? state.value?.server.name ?? 'Mooring'} />
        </span>
      </p>
      <Servers />
      <nav aria-label="Screens">
        <ul>
          {shownScreens.value.map(({ name, title }) => (
            <li key={name}>
              <a href={link(name)} aria-current={route.value.screen === name ? 'page' : undefined}>
                <Icon name={name} />
                <span>{title}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-tools">
        <Connected />
        <button type="button" class="quiet" onClick={openPalette}>
          <Icon name="search" /> <span>Go to</span> <kbd>Ctrl K</kbd>
        </button>
        <div class="side-row">
          <ThemeButton />
          <button type="button" class="icon-button" aria-label="Shortcuts" onClick={openKeys}>
            <Icon name="keyboard" />
          </button>
        </div>
      </div>
    </header>
  );
}

/** The other servers of `inspect` with several, as tabs. Each is a page of its own. */
function Servers(): JSX.Element | null {
  const siblings = state.value?.siblings ?? [];
  if (siblings.length < 2) return null;
  const own = location.pathname.replace(/\/$/, '');
  return (
    <nav aria-label="Servers" class="servers">
      <ul>
        {siblings.map(({ name, path, status }) => (
          <li key={path}>
            <a
              href={`${path}/${link(route.value.screen)}`}
              aria-current={path === own ? 'page' : undefined}
              class={`is-${status}`}
            >
              <span class="dot" aria-hidden="true" />
              <span>
                <Text text={name} />
              </span>
              {status !== 'connected' && <span class="sr-only">({status})</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const feedTexts = { connected: 'Live', connecting: 'Connecting', lost: 'Disconnected' } as const;

function Connected(): JSX.Element {
  return (
    <p class={`connected is-${feedStatus.value}`}>
      <span class="dot" aria-hidden="true" /> {feedTexts[feedStatus.value]}
    </p>
  );
}

const themeIcons = { system: 'system', light: 'sun', dark: 'moon' } as const;

function ThemeButton(): JSX.Element {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] as Theme;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Theme: ${theme.value}`}
      title={`Theme: ${theme.value}`}
      onClick={() => (theme.value = next)}
    >
      <Icon name={themeIcons[theme.value]} />
    </button>
  );
}

/** What is wrong with the connection, and a warning while values are not redacted. */
function Notices(): JSX.Element {
  const target = connection.value;
  const isTargetDown = target !== undefined && target.status !== 'connected';
  return (
    <div class="notices" role="status">
      {state.value?.raw === true && (
        <Notice tone="bad">
          <Icon name="warning" /> Secrets are not redacted. Do not share what you see or export.
        </Notice>
      )}
      {feedStatus.value === 'lost' && (
        <Notice tone="bad">
          <Icon name="warning" /> The connection to the server is lost. Trying again until it responds.
        </Notice>
      )}
      {isTargetDown && (
        <Notice tone={target.status === 'connecting' ? 'warning' : 'bad'}>
          <Icon name="warning" />{' '}
          {target.status === 'connecting'
            ? 'Connecting to'
            : target.status === 'lost'
              ? 'Lost the connection to'
              : 'Could not connect to'}{' '}
          <Text text={target.target} />
          {target.reason !== undefined && (
            <>
              : <Text text={target.reason} />
            </>
          )}
        </Notice>
      )}
    </div>
  );
}

function AccessForm(): JSX.Element {
  const value = useSignal('');
  const message = accessProblem.value === 'missing' ? undefined : accessProblem.value;
  return (
    <main class="access">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          setToken(value.value.trim());
          location.reload();
        }}
      >
        <h1>Console</h1>
        <p>
          Open the link that the server printed when it started: it ends with <code>#t=…</code>. Or enter the token
          here.
        </p>
        {message !== undefined && (
          <p class="problem" role="alert">
            <Text text={message} />
          </p>
        )}
        <div class="field">
          <div class="field-label">
            <label for="token">Token</label>
          </div>
          <input
            id="token"
            type="password"
            autocomplete="off"
            value={value.value}
            onInput={(event) => {
              value.value = event.currentTarget.value;
            }}
          />
        </div>
        <div class="form-buttons">
          <button type="submit" class="primary" disabled={value.value.trim() === ''}>
            Open
          </button>
        </div>
      </form>
    </main>
  );
}

/** The charts and their library are a separate file. */
function MetricsLoader(): JSX.Element {
  const loaded = useSignal<ComponentType | undefined>(undefined);
  useEffect(() => {
    void import('./screens/metrics.tsx').then(({ Metrics }) => {
      loaded.value = Metrics;
    });
  }, []);
  const Screen = loaded.value;
  return Screen === undefined ? <p class="muted">Loading…</p> : <Screen />;
}
