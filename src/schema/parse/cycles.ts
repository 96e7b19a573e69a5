// Finds schemas that lead back to themselves without going deeper into the value, such as `{"$ref": "#"}`: validating
// by them would never end. Recursion through `properties` or `items` is fine, a value has an end.
import { show } from '../checks/issues.ts';
import { SchemaError } from '../schema-error.ts';
import type { Plan } from './plan.ts';

/** Throws when any of these plans can reach itself while looking at one and the same value. */
export function assertNoLoops(plans: Iterable<Plan>, where: string): void {
  const done = new Set<Plan>();
  const open = new Set<Plan>();
  for (const start of plans) {
    // Its own stack, since a chain of references may be longer than ours allows. A plan is met twice: going in, coming out.
    const stack: Plan[] = [start];
    for (let plan = stack.at(-1); plan !== undefined; plan = stack.at(-1)) {
      if (done.has(plan) || open.has(plan)) {
        stack.pop();
        open.delete(plan);
        done.add(plan);
        continue;
      }
      open.add(plan);
      for (const next of sameValue(plan)) {
        if (open.has(next)) {
          throw new SchemaError(
            `${where}: ${show(next.source)} leads back to itself without going into a property or an item, so no ` +
              'value could ever be validated. Remove one "$ref" of the circle.',
          );
        }
        if (!done.has(next)) stack.push(next);
      }
    }
  }
}

/** The plans that check the same value as this one. */
function* sameValue(plan: Plan): Iterable<Plan> {
  if (plan.ref?.target !== undefined) yield plan.ref.target;
  yield* plan.allOf;
  yield* plan.anyOf ?? [];
  yield* plan.oneOf ?? [];
  if (plan.not !== undefined) yield plan.not;
  const { conditional, object } = plan;
  for (const next of [conditional?.when, conditional?.matched, conditional?.otherwise]) if (next) yield next;
  for (const { plan: next } of object?.dependentSchemas ?? []) yield next;
}
