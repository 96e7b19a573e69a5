// Checks that combine schemas: `anyOf`, `oneOf`, `not`, `if`. Most of this is about messages: when no branch fits, the
// message should describe the branch that was meant.

import { limits } from '../limits.ts';
import type { Conditional } from '../parse/plan.ts';
import type { Build, Check } from './check.ts';
import { IssueCollector, type RankedIssue } from './issue-collector.ts';
import { formatIssues, shorten, show } from './issues.ts';
import { mustBe, mustBeOneOf } from './messages.ts';

/** `anyOf`: at least one. */
export function checkAny(branches: readonly Check[]): Check {
  return (value, depth, log) => {
    for (const branch of branches) if (branch(value, depth, undefined)) return true;
    return log?.addAll(explain(branches, value, depth, log.path)) ?? false;
  };
}

/** `oneOf`: exactly one. */
export function checkOne(branches: readonly Check[]): Check {
  return (value, depth, log) => {
    let fitting: number | undefined;
    for (let at = 0; at < branches.length; at++) {
      if (!branches[at]?.(value, depth, undefined)) continue;
      if (fitting !== undefined) {
        return (
          log?.add(`must match exactly one alternative, but matches numbers ${fitting + 1} and ${at + 1}`) ?? false
        );
      }
      fitting = at;
    }
    if (fitting !== undefined) return true;
    return log?.addAll(explain(branches, value, depth, log.path)) ?? false;
  };
}

/** `not`. */
export function checkNot(check: Check, source: unknown): Check {
  return (value, depth, log) => {
    if (!check(value, depth, undefined)) return true;
    return log?.add(source === true ? 'is not allowed' : `must not match ${show(source)}`) ?? false;
  };
}

/** `if`, `then`, `else`. */
export function checkConditional({ when, matched, otherwise }: Conditional, build: Build): Check {
  const test = build(when);
  const [yes, no] = [matched, otherwise].map((plan) => (plan === undefined ? undefined : build(plan)));
  return (value, depth, log) => (test(value, depth, undefined) ? yes : no)?.(value, depth, log) ?? true;
}

/** The issues when no branch fits. */
function explain(
  branches: readonly Check[],
  value: unknown,
  depth: number,
  livePath: readonly (string | number)[],
): readonly RankedIssue[] {
  const path = [...livePath];
  if (branches.length > limits.maxExplained) {
    return [{ path, message: `must match one of ${branches.length} alternatives`, about: 'rule', wanted: [] }];
  }
  const findings = branches.map((branch) => {
    const log = new IssueCollector(path);
    branch(value, depth, log);
    return log.found;
  });
  return (
    sameInAll(findings) ??
    mergedKinds(findings, path, value) ??
    onlyMeant(findings, path) ??
    allBranches(findings, path)
  );
}

/** An issue of every branch must be fixed in any case. */
function sameInAll([first = [], ...others]: readonly (readonly RankedIssue[])[]): readonly RankedIssue[] | undefined {
  const texts = others.map((found) => new Set(found.map((issue) => formatIssues([issue]))));
  const same = first.filter((issue) => texts.every((set) => set.has(formatIssues([issue]))));
  return same.length > 0 ? same : undefined;
}

/** Every branch expects another kind of value at the same path: name them all in one sentence. */
function mergedKinds(
  findings: readonly (readonly RankedIssue[])[],
  { length }: readonly unknown[],
  value: unknown,
): readonly RankedIssue[] | undefined {
  const kinds = findings.map((found) => found.find((issue) => isDecisive(issue, length)));
  const first = JSON.stringify(kinds[0]?.path);
  const wanted: string[] = [];
  for (const kind of kinds) {
    if (kind === undefined || JSON.stringify(kind.path) !== first) return undefined;
    for (const noun of kind.wanted) if (!wanted.includes(noun)) wanted.push(noun);
  }
  const path = kinds[0]?.path ?? [];
  const literal = wanted.every((noun) => !/^an? /.test(noun));
  const message = literal || path.length > length ? mustBeOneOf(wanted) : mustBe(wanted, value);
  return [{ path, message, about: 'kind', wanted }];
}

/** The only branch that does not fail for the kind of value or for a property that distinguishes the branches. */
function onlyMeant(
  findings: readonly (readonly RankedIssue[])[],
  { length }: readonly unknown[],
): readonly RankedIssue[] | undefined {
  const meant = findings.filter(
    (found) => !found.some((issue) => issue.about === 'kind' && issue.path.length <= length),
  );
  if (meant.length === 1) return meant[0];
  const fitting = meant.filter((found) => !found.some((issue) => isTag(issue) && issue.path.length === length + 1));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** The wrong kind of value here, or the wrong value in a property that distinguishes the branches. */
const isDecisive = (issue: RankedIssue, length: number): boolean =>
  issue.path.length === length ? issue.about === 'kind' : issue.path.length === length + 1 && isTag(issue);

/** A property with a fixed value, such as `"kind": "circle"`. */
const isTag = ({ about, wanted }: RankedIssue): boolean =>
  about === 'kind' && wanted.every((noun) => noun.startsWith('"'));

function allBranches(
  findings: readonly (readonly RankedIssue[])[],
  path: readonly (string | number)[],
): readonly RankedIssue[] {
  const texts = findings.slice(0, 5).map((found, at) => {
    const local = found.slice(0, 2).map((issue) => ({ ...issue, path: issue.path.slice(path.length) }));
    return `(${at + 1}) ${shorten(formatIssues(local), 120)}`;
  });
  const message = `must match one of ${findings.length} alternatives: ${texts.join(' ')}`;
  return [{ path, message, about: 'rule', wanted: [] }];
}
