// What it costs to check one value against a plan, in steps of the budget in checks/budget.ts. Counts everything that is done
// once; items, further properties and references are counted as often as they are met, where they are met.
import { limits } from './limits.ts';
import type { Plan } from './parse/plan.ts';

const known = new WeakMap<Plan, number>();

/** Steps for one value, without what is in it any number of times. */
export function stepsOf(plan: Plan): number {
  let steps = known.get(plan);
  if (steps === undefined) known.set(plan, (steps = count(plan)));
  return steps;
}

function count(plan: Plan): number {
  let steps: number = limits.stepsPerSubschema;
  for (const choices of plan.choices) for (const choice of choices) steps += sizeOf(choice);
  for (const part of partsOf(plan)) steps += stepsOf(part);
  const { object } = plan;
  if (object === undefined) return steps;
  return object.dependentRequired.reduce((sum, { needs }) => sum + needs.length, steps + object.members.length * 5);
}

/** The plans that meet a value, or a certain part of it, once. */
function* partsOf({ allOf, anyOf, oneOf, not, conditional, array, object }: Plan): Iterable<Plan> {
  yield* allOf;
  yield* anyOf ?? [];
  yield* oneOf ?? [];
  if (not !== undefined) yield not;
  for (const part of [conditional?.when, conditional?.matched, conditional?.otherwise]) if (part) yield part;
  yield* array?.prefix ?? [];
  for (const { plan } of object?.members ?? []) if (plan !== undefined) yield plan;
  for (const { plan } of object?.dependentSchemas ?? []) yield plan;
}

/** Objects and arrays are compared member by member; everything else is found in a set. */
function sizeOf(choice: unknown): number {
  if (typeof choice !== 'object' || choice === null) return 0;
  let size = 0;
  const open: unknown[] = [choice];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    size += 5;
    if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) open.push(member ?? 0);
  }
  return size;
}
