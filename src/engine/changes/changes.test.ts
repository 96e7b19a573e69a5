import { describe, expect, test, vi } from 'vitest';
import { CallerBudget } from '../../protocol/callers/caller-budget.ts';
import { type AnnouncedChange, type ChangeListener, Changes } from './changes.ts';

const someone = { principal: undefined, session: undefined, can: () => false };

function make() {
  const kept = new CallerBudget(1_000_000, 1_000_000);
  const failed = vi.fn();
  const changes = new Changes(kept, failed);
  const listen = (lists: ('tools' | 'prompts' | 'resources')[], uris: string[], caller = 'someone') => {
    const notified: string[] = [];
    const listener: ChangeListener & { notified: string[]; principals: (string | undefined)[] } = {
      ...someone,
      caller,
      notified,
      principals: [],
      notify: ({ change }: AnnouncedChange) => void notified.push(change.uri ?? change.kind),
    };
    changes.add(listener, lists, uris);
    return listener;
  };
  /** Resolves when everything announced before has been told: changes are told in their order. */
  const told = () =>
    new Promise<void>((resolve) => {
      const last: ChangeListener = {
        ...someone,
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

/** The reference that the look-up is compared with. */
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
    const { notified } = listen([], [uri]);
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
    expect(notified).toEqual(expected);
  });

  test('is notified of exactly what it covers, whatever the URIs look like', async () => {
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
    for (const { uri, notified } of listeners)
      expect(notified, uri).toEqual(distinct.filter((each) => covers(uri, each)));
  });

  test('to a resource and several folders above it is notified of a change once', async () => {
    const { listen, touch } = make();
    const many = listen([], ['note://a/b', 'note://a', 'note://a/', 'note://']);
    const one = listen([], ['note://a']);
    await touch('note://a/b');
    expect([many.notified, one.notified]).toEqual([['note://a/b'], ['note://a/b']]);
  });

  test('is notified of the lists it follows; a resource with the name of a list is not a list', async () => {
    const { changes, listen, told } = make();
    const lists = listen(['tools', 'resources'], []);
    const resource = listen([], ['tools']);
    for (const kind of ['tools', 'prompts', 'resources'] as const) changes.publish({ kind });
    changes.publish({ kind: 'resource', uri: 'tools' });
    await told();
    expect([lists.notified, resource.notified]).toEqual([['tools', 'resources'], ['tools']]);
  });

  test('that was removed is not notified, and the budget of its caller is released', async () => {
    const { changes, kept, listen, touch, told } = make();
    const listener = listen(['tools'], ['note://a', 'note://b', 'note://a'], 'alice');
    const two = kept.heldBy('alice');
    changes.remove(listener, [], ['note://a', 'note://never']);
    expect(kept.heldBy('alice')).toBe(two / 2);
    await touch('note://a', 'note://b');
    expect(listener.notified).toEqual(['note://b']);
    changes.remove(listener, ['tools'], ['note://a', 'note://b']);
    changes.publish({ kind: 'tools' });
    await told();
    expect([listener.notified, kept.held]).toEqual([['note://b'], 0]);
  });
});

describe('announcing', () => {
  test('announces the same change once per turn, to all its audiences', async () => {
    const { changes, listen, told } = make();
    const principals: boolean[][] = [];
    const { notified } = listen([], ['note://a']);
    const listener: ChangeListener = {
      ...someone,
      caller: 'x',
      notify: (each) =>
        void principals.push(
          ['alice', 'bob', 'carol'].map((id) => each.isFor({ principal: { id }, session: undefined })),
        ),
    };
    changes.add(listener, [], ['note://a']);
    for (const id of ['alice', 'bob']) {
      changes.publish({ kind: 'resource', uri: 'note://a' }, (principal) => principal?.id === id);
    }
    await told();
    expect([notified, principals]).toEqual([['note://a'], [[true, true, false]]]);
    changes.publish({ kind: 'resource', uri: 'note://a' }, (principal) => principal?.id === 'alice');
    changes.publish({ kind: 'resource', uri: 'note://a' });
    await told();
    expect(principals.at(-1)).toEqual([true, true, true]);
  });

  test('reaches all of a hundred thousand audiences of the same change', async () => {
    const { changes, failed } = make();
    const count = 100_000;
    const reached = new Set<number>();
    const listener: ChangeListener = {
      ...someone,
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
    await vi.waitFor(() => expect(reached.size).toBe(count), 20_000);
    expect(failed).not.toHaveBeenCalled();
  });

  test('notifies the other listeners if one throws', async () => {
    const { changes, failed, listen, touch } = make();
    changes.add({ ...someone, caller: 'x', notify: () => expect.fail('on purpose') }, [], ['note://a']);
    const { notified } = listen([], ['note://a']);
    await touch('note://a');
    expect(notified).toEqual(['note://a']);
    expect(failed).toHaveBeenCalledTimes(1);
  });

  test('continues in later turns if there is much to send, and includes changes published meanwhile', async () => {
    const { changes, listen } = make();
    const { notified } = listen([], ['note://']);
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    const slow: ChangeListener = {
      ...someone,
      caller: 'x',
      notify: () => {
        const until = performance.now() + 2;
        while (performance.now() < until);
      },
    };
    changes.add(slow, [], ['note://']);
    for (let n = 0; n < 50; n++) changes.publish({ kind: 'resource', uri: `note://${n}` });
    setImmediate(count);
    await vi.waitFor(() => expect(notified.length).toBeGreaterThan(0), 20_000);
    changes.publish({ kind: 'resource', uri: 'note://late' });
    await vi.waitFor(() => expect(notified).toContain('note://late'), 20_000);
    counting = false;
    expect(turns).toBeGreaterThan(5);
    expect(notified).toHaveLength(51);
    // And again, after everything was sent.
    changes.publish({ kind: 'resource', uri: 'note://0' });
    await vi.waitFor(() => expect(notified).toHaveLength(52), 20_000);
  });
});
