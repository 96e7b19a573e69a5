// Checks of arrays, with their messages.

import type { ArrayRules } from '../parse/plan.ts';
import { stepsOf } from '../weight.ts';
import { spend } from './budget.ts';
import type { Build, Check } from './check.ts';
import type { IssueCollector } from './issue-collector.ts';
import { counted } from './messages.ts';
import { findRepeat } from './unique-items.ts';

/** `minItems`, `maxItems`, `uniqueItems`, `prefixItems`, `items`, `contains`. */
export function checkArray(rules: ArrayRules, build: Build): Check {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, unique } = rules;
  const items = rules.prefix.length > 0 || rules.rest !== undefined ? checkItems(rules, build) : undefined;
  const contains = rules.contains === undefined ? undefined : checkContains(rules.contains, build);
  return (value, depth, log) => {
    if (!Array.isArray(value)) return true;
    // Sizes first: they are free, and an oversized array is not worth looking into.
    if (value.length < minItems) return log?.add(`must have at least ${counted(minItems, 'item')}`) ?? false;
    if (value.length > maxItems) return log?.add(`must have at most ${counted(maxItems, 'item')}`) ?? false;
    let ok = items === undefined || items(value, depth, log);
    if (!ok && log === undefined) return false;
    if (contains !== undefined && !contains(value, depth, log)) ok = false;
    if (!ok && log === undefined) return false;
    return unique && !isUnique(value, log) ? false : ok;
  };
}

function checkItems({ prefix, rest }: ArrayRules, build: Build): Check {
  const first = prefix.map(build);
  const others = rest === undefined ? undefined : build(rest);
  const steps = rest === undefined ? 0 : stepsOf(rest);
  const tooMany = `must have at most ${counted(prefix.length, 'item')}`;
  return (value, depth, log) => {
    const items = value as readonly unknown[];
    if (rest?.never && items.length > prefix.length) return log?.add(tooMany) ?? false;
    let ok = true;
    spend(items.length * steps);
    const end = others === undefined ? Math.min(items.length, first.length) : items.length;
    for (let at = 0; at < end; at++) {
      const check = first[at] ?? others;
      log?.path.push(at);
      const good = check === undefined || check(items[at], depth + 1, log);
      log?.path.pop();
      if (good) continue;
      ok = false;
      if (log === undefined || log.full) return false;
    }
    return ok;
  };
}

function checkContains(rules: NonNullable<ArrayRules['contains']>, build: Build): Check {
  const { min, max } = rules;
  const check = build(rules.plan);
  const steps = stepsOf(rules.plan);
  return (value, depth, log) => {
    let found = 0;
    const items = value as readonly unknown[];
    spend(items.length * steps);
    for (const item of items) {
      if (check(item, depth + 1, undefined)) found++;
      if (found > max || (found >= min && max === Number.POSITIVE_INFINITY)) break;
    }
    if (found < min) return log?.add(`must contain at least ${counted(min, 'item')} of the kind described`) ?? false;
    if (found > max) return log?.add(`must contain at most ${counted(max, 'item')} of the kind described`) ?? false;
    return true;
  };
}

function isUnique(items: readonly unknown[], log: IssueCollector | undefined): boolean {
  const repeat = findRepeat(items);
  if (repeat === undefined) return true;
  return log?.addAt(repeat[1], `must not repeat an item, but equals [${repeat[0]}]`) ?? false;
}
