// Collects the issues of one value: the current path, and the issues found so far.
import { limits } from '../limits.ts';
import type { Issue } from '../types.ts';

/** An issue with what is needed to weigh the branches of a union against each other. */
export interface RankedIssue extends Issue {
  /** `kind` says that this is another sort of value altogether (`type`, `enum`, `const`), `rule` everything else. */
  readonly about: 'kind' | 'rule';
  /** What would have been right, as nouns: `['a string', '"auto"']`. Only for `kind`. */
  readonly wanted: readonly string[];
}

/** Collects issues. Checks push the step they take into the value and pop it when they are back. */
export class IssueCollector {
  readonly path: (string | number)[];
  readonly found: RankedIssue[] = [];

  constructor(path: readonly (string | number)[] = []) {
    this.path = [...path];
  }

  /** There are enough issues; checks may stop. */
  get full(): boolean {
    return this.found.length >= limits.maxIssues;
  }

  /** Notes that a rule is broken; always `false`, so that a check can return it. */
  add(message: string): false {
    return this.#note({ path: [...this.path], message, about: 'rule', wanted: [] });
  }

  /** The same for a property of the object we are at. */
  addAt(step: string | number, message: string): false {
    return this.#note({ path: [...this.path, step], message, about: 'rule', wanted: [] });
  }

  /** Notes that the value is not of the kind that was wanted. */
  addKind(wanted: readonly string[], message: string): false {
    return this.#note({ path: [...this.path], message, about: 'kind', wanted });
  }

  /** Takes over what another log found. */
  addAll(found: readonly RankedIssue[]): false {
    for (const issue of found) this.#note(issue);
    return false;
  }

  #note(issue: RankedIssue): false {
    if (!this.full) this.found.push(issue);
    return false;
  }

  /** The issues as callers get them. */
  issues(): readonly Issue[] {
    return this.found.map(({ path, message }) => ({ path, message }));
  }
}
