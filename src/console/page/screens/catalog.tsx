// The frame of Tools, Resources, Prompts and Skills: a list with a filter on one side, the chosen entry on the other.

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Empty, Heading, Problem, Text } from '../components/basics.tsx';
import { connection } from '../feed.ts';
import { plural } from '../format.ts';
import { chosenRevision, isNegotiated, lists, listsProblem, revision, revisions } from '../lists.ts';
import { link, route } from '../router.ts';

export interface CatalogItem {
  /** Identifies it within the screen. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly marks?: ComponentChildren;
  /** Entries with the same group are under one heading. */
  readonly group?: string;
}

interface CatalogProps {
  readonly title: string;
  readonly screen: string;
  readonly noun: string;
  readonly entries: readonly CatalogItem[];
  readonly emptyText: string;
  readonly detail: (name: string) => ComponentChildren;
}

export function Catalog({ title, screen, noun, entries, emptyText, detail }: CatalogProps): JSX.Element {
  const filter = useSignal('');
  const chosen = route.value.item;
  // A link may lead to an entry far down the list.
  useEffect(() => {
    document.querySelector('.entries .is-chosen')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, entries.length > 0]);
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = entries.filter((entry) => {
    const text = `${entry.name} ${entry.title ?? ''} ${entry.description ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <Heading title={title}>
        <RevisionChooser />
      </Heading>
      {listsProblem.value !== undefined && <Problem message={listsProblem.value} />}
      {lists.value?.notes.map((note) => (
        <p class="muted" key={note}>
          <Text text={note} />
        </p>
      ))}
      <div class={chosen === undefined ? 'catalog' : 'catalog has-detail'}>
        <section class="catalog-list" aria-label={`List of ${title.toLowerCase()}`}>
          <label class="filter">
            <span>Filter</span>
            <input
              type="search"
              value={filter.value}
              onInput={(event) => {
                filter.value = event.currentTarget.value;
              }}
            />
          </label>
          <p class="muted count" role="status">
            {words.length === 0 ? plural(entries.length, noun) : `${shown.length} of ${plural(entries.length, noun)}`}
          </p>
          {lists.value === undefined && listsProblem.value === undefined && <p class="muted">Loading…</p>}
          {lists.value !== undefined && entries.length === 0 && <Empty title={emptyText} />}
          <Groups entries={shown} screen={screen} chosen={chosen} />
        </section>
        <div class="catalog-detail">
          {chosen === undefined ? (
            entries.length > 0 && <Empty title={`Choose a ${noun} from the list.`} />
          ) : (
            <>
              <a class="back" href={link(screen)}>
                All {title.toLowerCase()}
              </a>
              {detail(chosen)}
            </>
          )}
        </div>
      </div>
    </>
  );
}

interface GroupsProps {
  readonly entries: readonly CatalogItem[];
  readonly screen: string;
  readonly chosen: string | undefined;
}

function Groups({ entries, screen, chosen }: GroupsProps): JSX.Element {
  const groups = new Map<string, CatalogItem[]>();
  for (const entry of entries) {
    const key = entry.group ?? '';
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return (
    <>
      {[...groups].map(([group, members]) => (
        <div key={group}>
          {group !== '' && (
            <h2 class="group-name">
              <Text text={group} />
            </h2>
          )}
          <ul class="entries">
            {members.map((entry) => (
              <li key={entry.name} class={entry.name === chosen ? 'is-chosen' : undefined}>
                <a href={link(screen, entry.name)} aria-current={entry.name === chosen ? 'true' : undefined}>
                  <Text text={entry.name} />
                </a>
                {entry.marks}
                {(entry.title ?? entry.description) !== undefined && (
                  <p>
                    <Text text={(entry.title ?? entry.description ?? '').slice(0, 160)} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

function RevisionChooser(): JSX.Element | null {
  if (revisions.value.length < 2) return null;
  return (
    <label class="inline">
      <span>Revision</span>
      <select
        value={chosenRevision.value ?? (isNegotiated.value ? '' : revision.value)}
        onChange={(event) => {
          chosenRevision.value = event.currentTarget.value === '' ? undefined : event.currentTarget.value;
        }}
      >
        {isNegotiated.value && <option value="">negotiated: {connection.value?.revision ?? 'none yet'}</option>}
        {revisions.value.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </label>
  );
}

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
