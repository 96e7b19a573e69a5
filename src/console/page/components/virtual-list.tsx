// A list of rows of equal height that only renders what can be seen, and follows its end until the reader scrolls up. A grid
// for assistive technology: arrow keys move, Enter opens.

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualListProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => number;
  readonly rowHeight: number;
  readonly render: (item: Item) => ComponentChildren;
  readonly rowClass: (item: Item) => string;
  /** What the row says about its parts: undefined if it does not open. */
  readonly isExpanded?: (item: Item) => boolean | undefined;
  readonly selected: number | undefined;
  readonly onOpen: (item: Item) => void;
  /** Left and right arrow: closes and opens the parts of a row. */
  readonly onToggle?: (item: Item, open: boolean) => void;
  readonly header: ComponentChildren;
  readonly isFollowing: boolean;
  readonly onFollow: (following: boolean) => void;
}

/** Rows above and below the visible ones, so that scrolling shows no gaps. */
const overscan = 8;
/** Fewer while following: on a busy server all rows are new with each frame, and their layout is most of its work. */
const followingOverscan = 2;
/** Closer to the end than this is at the end. */
const endTolerance = 24;

export function VirtualList<Item>(props: VirtualListProps<Item>): JSX.Element {
  const { items, keyOf, rowHeight, isFollowing } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [activeKey, setActiveKey] = useState<number | undefined>(undefined);
  const topKey = useRef<number | undefined>(undefined);
  const focusPending = useRef(false);
  const last = items.length - 1;
  const found = activeKey === undefined ? -1 : indexOfKey(items, keyOf, activeKey);
  const active = found < 0 ? Math.max(0, last) : found;

  // Before painting: at the end while following; otherwise the same rows stay where they are when old ones are removed.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    if (isFollowing) {
      element.scrollTop = element.scrollHeight;
    } else if (topKey.current !== undefined) {
      const before = Math.floor(element.scrollTop / rowHeight);
      const now = indexOfKey(items, keyOf, topKey.current);
      if (now >= 0 && now !== before) element.scrollTop += (now - before) * rowHeight;
    }
    const top = items[Math.floor(element.scrollTop / rowHeight)];
    topKey.current = top === undefined ? undefined : keyOf(top);
  }, [items, isFollowing]);

  // A link to a message shows it.
  useLayoutEffect(() => {
    const element = scroller.current;
    const index = props.selected === undefined ? -1 : indexOfKey(items, keyOf, props.selected);
    if (element === null || index < 0 || isFollowing) return;
    element.scrollTop = index * rowHeight - element.clientHeight / 3;
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = (): void => setView({ top: element.scrollTop, height: heightOf(element) });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    if (!focusPending.current) return;
    focusPending.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-index="${active}"]`)?.focus({ preventScroll: true });
  });

  // From here on the position counts, which is not kept while following.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && !isFollowing) setView({ top: element.scrollTop, height: heightOf(element) });
  }, [isFollowing]);

  const onScroll = (): void => {
    const element = scroller.current as HTMLDivElement;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < endTolerance;
    // While following, the rows at the end are rendered anyway; a second time would double the work of each frame.
    if (isAtEnd && isFollowing) return;
    setView({ top: element.scrollTop, height: heightOf(element) });
    const top = items[Math.floor(element.scrollTop / rowHeight)];
    topKey.current = top === undefined ? undefined : keyOf(top);
    if (isAtEnd !== isFollowing) props.onFollow(isAtEnd);
  };

  const moveTo = (index: number): void => {
    const next = Math.max(0, Math.min(last, index));
    const element = scroller.current;
    if (element === null || items.length === 0) return;
    setActiveKey(keyOf(items[next] as Item));
    focusPending.current = true;
    const top = next * rowHeight;
    if (next < last) props.onFollow(false);
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + heightOf(element)) {
      element.scrollTop = top + rowHeight - heightOf(element);
    }
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const item = items[active];
    if (item === undefined) return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => moveTo(active + 1),
      ArrowUp: () => moveTo(active - 1),
      PageDown: () => moveTo(active + page),
      PageUp: () => moveTo(active - page),
      Home: () => moveTo(0),
      End: () => moveTo(last),
      Enter: () => props.onOpen(item),
      ' ': () => props.onOpen(item),
      ArrowRight: () => props.onToggle?.(item, true),
      ArrowLeft: () => props.onToggle?.(item, false),
    };
    const action = actions[event.key];
    if (action === undefined || event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    action();
  };

  const viewTop = isFollowing ? Math.max(0, items.length * rowHeight - view.height) : view.top;
  const from = Math.max(0, Math.floor(viewTop / rowHeight) - (isFollowing ? followingOverscan : overscan));
  const to = Math.min(items.length, Math.ceil((viewTop + view.height) / rowHeight) + overscan);
  const indexes: number[] = [];
  // The row with the focus stays, wherever the reader scrolls.
  if (found >= 0 && active < from) indexes.push(active);
  for (let index = from; index < to; index++) indexes.push(index);
  if (found >= 0 && active >= to && active <= last) indexes.push(active);
  const entrance = found >= 0 || (active >= from && active < to) ? active : from;

  return (
    <div role="grid" class="list" aria-label={props.label} aria-rowcount={items.length + 1}>
      <div ref={scroller} role="rowgroup" class="list-scroller" onScroll={onScroll} onKeyDown={onKeyDown}>
        <div role="row" class="list-header" aria-rowindex={1}>
          {props.header}
        </div>
        <div role="presentation" class="list-space" style={{ height: `${items.length * rowHeight}px` }}>
          {indexes.map((index) => {
            const item = items[index] as Item;
            const key = keyOf(item);
            return (
              <div
                key={key}
                role="row"
                data-index={index}
                class={`list-row ${props.rowClass(item)}`}
                aria-rowindex={index + 2}
                aria-selected={key === props.selected}
                aria-expanded={props.isExpanded?.(item)}
                tabIndex={index === entrance ? 0 : -1}
                style={{ transform: `translateY(${index * rowHeight}px)` }}
                onFocus={() => setActiveKey(key)}
                onClick={() => props.onOpen(item)}
              >
                {props.render(item)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Without the header, which stays at the top and is as high as a row. */
const heightOf = (element: HTMLElement): number =>
  element.clientHeight - ((element.firstElementChild as HTMLElement | null)?.offsetHeight ?? 0);

function indexOfKey<Item>(items: readonly Item[], keyOf: (item: Item) => number, key: number): number {
  return items.findIndex((item) => keyOf(item) === key);
}
