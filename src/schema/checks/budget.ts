// What one validation may still spend. Validation is synchronous and calls no other code, so one counter is enough.
import { limits } from '../limits.ts';

/** Reset before each validation. */
export const budget = {
  /** Steps of a few nanoseconds each: a character of a text, a twentieth of a subschema. */
  stepsLeft: limits.maxSteps as number,
  /** Set by generated code that cannot decide (an object with another prototype); the closures then decide. */
  uncertain: false,
};

/** Thrown, not returned: under `not` a returned failure would become a success. Made once, since its stack is of no use. */
export const depthExceeded = new Error('The value is nested too deeply');

/** Thrown when `stepsLeft` is used up. */
export const budgetExceeded = new Error('The value takes too long to validate');

/** Takes steps from the budget of the present validation. */
export function spend(steps: number): void {
  budget.stepsLeft -= steps;
  if (budget.stepsLeft < 0) throw budgetExceeded;
}
