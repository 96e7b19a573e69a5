// Checks of numbers and strings, with their messages.

import type { NumberRules, StringRules } from '../parse/plan.ts';
import type { Check } from './check.ts';
import type { IssueCollector } from './issue-collector.ts';
import { shorten } from './issues.ts';
import { counted, formatNouns } from './messages.ts';
import type { Pattern } from './patterns.ts';
import { hasLength, isMultiple } from './value-checks.ts';

/** `minimum`, `maximum`, the exclusive ones, `multipleOf`. */
export function checkNumber(rules: NumberRules): Check {
  const tests: ((value: number) => boolean)[] = [];
  const messages: string[] = [];
  const rule = (bound: number | undefined, text: string, test: (value: number, bound: number) => boolean) => {
    if (bound === undefined) return;
    tests.push((value) => test(value, bound));
    messages.push(`must be ${text} ${bound}`);
  };
  rule(rules.minimum, 'at least', (value, bound) => value >= bound);
  rule(rules.maximum, 'at most', (value, bound) => value <= bound);
  rule(rules.exclusiveMinimum, 'greater than', (value, bound) => value > bound);
  rule(rules.exclusiveMaximum, 'less than', (value, bound) => value < bound);
  rule(rules.multipleOf, 'a multiple of', isMultiple);
  return (value, _depth, log) => {
    if (typeof value !== 'number') return true;
    for (let at = 0; at < tests.length; at++) {
      if (!tests[at]?.(value)) return log?.add(messages[at] ?? '') ?? false;
    }
    return true;
  };
}

/** `minLength`, `maxLength`, `pattern`, `format`. */
export function checkString(rules: StringRules): Check {
  const { minLength: min = 0, maxLength: max = Number.POSITIVE_INFINITY, pattern, format } = rules;
  return (value, _depth, log) => {
    if (typeof value !== 'string') return true;
    if (!hasLength(value, min, max)) return log?.add(lengthMessage(value, rules)) ?? false;
    if (pattern !== undefined && !pattern.test(value)) return log?.add(patternMessage(pattern)) ?? false;
    if (format !== undefined && !format.test(value)) return addFormat(log, format.name);
    return true;
  };
}

function lengthMessage(value: string, { minLength = 0, maxLength }: StringRules): string {
  if (!hasLength(value, minLength, Number.POSITIVE_INFINITY)) {
    return `must have at least ${counted(minLength, 'character')}`;
  }
  return `must have at most ${counted(maxLength ?? 0, 'character')}`;
}

const patternMessage = (pattern: Pattern): string => `must match the pattern ${shorten(pattern.source)}`;

function addFormat(log: IssueCollector | undefined, name: string): false {
  return log?.add(`must be ${formatNouns.get(name) ?? `a valid ${name}`}`) ?? false;
}
