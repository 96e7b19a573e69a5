// Turns a run of the official suite into a list of complaints: empty means that the referee is content.
// Stricter than the suite itself, which lets warnings and skipped checks pass.
import type { Check, SuiteRun } from './run-suite.ts';

/** A complaint that is expected, with the reason; one that is no longer needed becomes a complaint itself. */
export interface Allowance {
  readonly scenario: string;
  /** Id of the check, or `nothing-checked` for a scenario that ends without an outcome. */
  readonly check: string;
  readonly reason: string;
  /** The check may succeed, too: two messages of different connections decide, and either may be the first. */
  readonly maySucceed?: boolean;
}

/** One line per check that did not succeed: scenario, check id, status and the suite's message. */
export function complaints(run: SuiteRun, allowances: readonly Allowance[] = []): string[] {
  const lines: string[] = [];
  const unused = new Set(allowances);
  for (const [scenario, checks] of run.scenarios) {
    for (const check of outcomes(checks)) {
      const allowance = allowances.find((entry) => entry.scenario === scenario && entry.check === check.id);
      if (allowance) unused.delete(allowance);
      else lines.push(`${scenario} / ${check.id} ${check.status}: ${shorten(check.errorMessage ?? explain(check))}`);
    }
  }
  for (const { scenario, check, maySucceed } of unused) {
    if (maySucceed !== true) lines.push(`${scenario} / ${check}: the allowance is no longer needed`);
  }
  return lines;
}

/**
 * The complaints about a run that a direct run of the same server did not cause. An allowance may be unused: servers of others
 * may do better than expected.
 */
export function worse(run: SuiteRun, direct: SuiteRun, allowances: readonly Allowance[] = []): string[] {
  const known = new Set<string>();
  for (const [scenario, checks] of direct.scenarios) {
    for (const { id } of outcomes(checks)) known.add(`${scenario} / ${id}`);
  }
  const isKnown = (line: string): boolean => known.has(line.split(' ').slice(0, 3).join(' '));
  for (const { scenario, check } of allowances) known.add(`${scenario} / ${check}`);
  const missing = [...direct.scenarios.keys()].filter((name) => !run.scenarios.has(name));
  const found = complaints(run).filter((line) => !isKnown(line));
  return [...missing.map((name) => `${name}: was not run`), ...found];
}

/** The run without some scenarios, for features that a revision or transport does not have. */
export function without(run: SuiteRun, excluded: Iterable<string>): SuiteRun {
  const scenarios = new Map(run.scenarios);
  for (const name of excluded) {
    // A misspelt or renamed exclusion would otherwise silently exclude nothing.
    if (!scenarios.delete(name)) throw new Error(`The suite has no scenario ${name} to exclude`);
  }
  return { ...run, scenarios };
}

function outcomes(checks: readonly Check[]): Check[] {
  const unhappy = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO');
  if (unhappy.length === 0 && !checks.some(({ status }) => status === 'SUCCESS')) {
    return [{ id: 'nothing-checked', status: 'SKIPPED', errorMessage: notes(checks) }];
  }
  return unhappy;
}

function explain(check: Check): string {
  return [check.description, check.details && JSON.stringify(check.details)].filter(Boolean).join(' ');
}

// A schema violation quotes the whole message, which may be a long list.
function shorten(text: string): string {
  return text.length > 700 ? `${text.slice(0, 700)}…` : text;
}

function notes(checks: readonly Check[]): string {
  return checks.map((check) => `${check.id}: ${check.description ?? ''}`).join('; ') || 'the scenario made no check';
}
