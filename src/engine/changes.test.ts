import { describe, expect, test, vi } from 'vitest';
import { CallerBudget } from '../protocol/caller-budget.ts';
import { type AnnouncedChange, type ChangeListener, Changes } from './changes.ts';

function make() {
  const kept = new CallerBudget(1_000_000, 1_000_000);
  const failed = vi.fn();
  const changes = new Changes(kept, failed);
  const listen = (lists: ('tools' | 'prompts' | 'resources')[], uris: string[], caller = 'someone') => {
    const heard: string[] = [];
    const listener: ChangeListener & { heard: string[]; principals: (string | undefined)[] } = {
      caller,
      heard,
      principals: [],
      notify: ({ change }: AnnouncedChange) => void heard.push(change.uri ?? change.kind),
    };
    changes.add(listener, lists, uris);
    return listener;
  };
  /** Resolves when everything announced before has been told: changes are told in their order. */
  const told = () =>
    new Promise<void>((resolve) => {
      const last: ChangeListener = {
        caller: 'test',
        notify: () => {
          changes.remove(last, [], ['test:told']);
          resolve();
        },
      };
      changes.add(last, [], ['test:told']);
      changes.publish({ kind: 'resource', uri: 'test:told' });
    });
  const touch = (...uris: string[]) => {
    for (const uri of uris) changes.publish({ kind: 'resource', uri });
    return told();
  };
  return { changes, kept, failed, listen, touch, told };
}

/** What the look-up must agree with. */
function covers(watched: string, uri: string): boolean {
  return uri === watched || uri.startsWith(watched.endsWith('/') ? watched : `${watched}/`);
}

describe('a subscription', () => {
  test.each([
    ['note://a', ['note://a', 'note://a/', 'note://a/b', 'note://a/b/c']],
    ['note://a/', ['note://a/', 'note://a/b', 'note://a/b/c']],
    ['note://a/b', ['note://a/b', 'note://a/b/c']],
    ['note://', ['note://a', 'note://a/', 'note://a/b', 'note://a/b/c', 'note://ab', 'note://ab/c']],
    ['note:', ['note://a', 'note://a/', 'note://a/b', 'note://a/b/c', 'note://ab', 'note://ab/c']],
    ['file:///', ['file:///x']],
    ['note://a/b/c/d', []],
    ['', []],
  ])('to %j hears of it and of what is below', async (uri, expected) => {
    const { listen, touch } = make();
    const { heard } = listen([], [uri]);
    await touch(
      'note://a',
      'note://a/',
      'note://a/b',
      'note://a/b/c',
      'note://ab',
      'note://ab/c',
      'file:///x',
      'tools',
    );
    expect(heard).toEqual(expected);
  });

  test('hears of exactly what it covers, whatever the URIs look like', async () => {
    const { listen, touch } = make();
    const parts = ['a', 'b', '', '/', '//', ':', 'file://'];
    const pick = (n: number): string => parts[n % parts.length] as string;
    const uris = Array.from(
      { length: parts.length ** 3 },
      (_, n) => pick(n) + pick(Math.floor(n / 7)) + pick(Math.floor(n / 49)),
    );
    const distinct = [...new Set(uris)];
    const listeners = distinct.map((uri) => ({ uri, ...listen([], [uri]) }));
    await touch(...distinct);
    for (const { uri, heard } of listeners) expect(heard, uri).toEqual(distinct.filter((each) => covers(uri, each)));
  });

  test('to a resource and several folders above it hears of a change once', async () => {
    const { listen, touch } = make();
    const many = listen([], ['note://a/b', 'note://a', 'note://a/', 'note://']);
    const one = listen([], ['note://a']);
    await touch('note://a/b');
    expect([many.heard, one.heard]).toEqual([['note://a/b'], ['note://a/b']]);
  });

  test('hears of the lists it follows, and a resource that is called like one is no list', async () => {
    const { changes, listen, told } = make();
    const lists = listen(['tools', 'resources'], []);
    const resource = listen([], ['tools']);
    for (const kind of ['tools', 'prompts', 'resources'] as const) changes.publish({ kind });
    changes.publish({ kind: 'resource', uri: 'tools' });
    await told();
    expect([lists.heard, resource.heard]).toEqual([['tools', 'resources'], ['tools']]);
  });

  test('that was taken back hears nothing, and its caller has its room back', async () => {
    const { changes, kept, listen, touch, told } = make();
    const listener = listen(['tools'], ['note://a', 'note://b', 'note://a'], 'alice');
    const two = kept.heldBy('alice');
    changes.remove(listener, [], ['note://a', 'note://never']);
    expect(kept.heldBy('alice')).toBe(two / 2);
    await touch('note://a', 'note://b');
    expect(listener.heard).toEqual(['note://b']);
    changes.remove(listener, ['tools'], ['note://a', 'note://b']);
    changes.publish({ kind: 'tools' });
    await told();
    expect([listener.heard, kept.held]).toEqual([['note://b'], 0]);
  });
});

describe('announcing', () => {
  test('the same change twice in a turn is told once, to all who are meant', async () => {
    const { changes, listen, told } = make();
    const principals: boolean[][] = [];
    const { heard } = listen([], ['note://a']);
    const listener: ChangeListener = {
      caller: 'x',
      notify: (each) => void principals.push(['alice', 'bob', 'carol'].map((id) => each.isFor({ id }))),
    };
    changes.add(listener, [], ['note://a']);
    for (const id of ['alice', 'bob']) {
      changes.publish({ kind: 'resource', uri: 'note://a' }, (principal) => principal?.id === id);
    }
    await told();
    expect([heard, principals]).toEqual([['note://a'], [[true, true, false]]]);
    changes.publish({ kind: 'resource', uri: 'note://a' }, (principal) => principal?.id === 'alice');
    changes.publish({ kind: 'resource', uri: 'note://a' });
    await told();
    expect(principals.at(-1)).toEqual([true, true, true]);
  });

  test('the same change for a hundred thousand audiences reaches all of them', async () => {
    const { changes, failed } = make();
    const count = 100_000;
    const reached = new Set<number>();
    const listener: ChangeListener = {
      caller: 'x',
      notify: ({ audiences }) => {
        for (const audience of audiences ?? []) audience(undefined);
      },
    };
    changes.add(listener, [], ['note://a']);
    for (let n = 0; n < count; n++) {
      changes.publish({ kind: 'resource', uri: 'note://a' }, () => {
        reached.add(n);
        return false;
      });
    }
    await vi.waitFor(() => expect(reached.size).toBe(count));
    expect(failed).not.toHaveBeenCalled();
  });

  test('a listener that throws does not keep the others from hearing', async () => {
    const { changes, failed, listen, touch } = make();
    changes.add({ caller: 'x', notify: () => expect.fail('on purpose') }, [], ['note://a']);
    const { heard } = listen([], ['note://a']);
    await touch('note://a');
    expect(heard).toEqual(['note://a']);
    expect(failed).toHaveBeenCalledTimes(1);
  });

  test('goes on in later turns where there is much to tell, and tells what is announced meanwhile', async () => {
    const { changes, listen } = make();
    const { heard } = listen([], ['note://']);
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    const slow: ChangeListener = {
      caller: 'x',
      notify: () => {
        const until = performance.now() + 2;
        while (performance.now() < until);
      },
    };
    changes.add(slow, [], ['note://']);
    for (let n = 0; n < 50; n++) changes.publish({ kind: 'resource', uri: `note://${n}` });
    setImmediate(count);
    await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0));
    changes.publish({ kind: 'resource', uri: 'note://late' });
    await vi.waitFor(() => expect(heard).toContain('note://late'));
    counting = false;
    expect(turns).toBeGreaterThan(5);
    expect(heard).toHaveLength(51);
    // And again, once nothing is left.
    changes.publish({ kind: 'resource', uri: 'note://0' });
    await vi.waitFor(() => expect(heard).toHaveLength(52));
  });
});
