// The validator of a plain JSON Schema. Closures validate the first values; a schema that is used often gets generated
// code, which takes about as long to make as validating a few hundred values without it. The gain is 1.9 of 7.8 µs per
// call (bench schema: "no generated code"; two equal servers differ by 0.02 µs).

import { budget, budgetExceeded, depthExceeded } from './checks/budget.ts';
import type { Check } from './checks/check.ts';
import { buildCheck } from './checks/closures.ts';
import type { GeneratedTest } from './checks/codegen.ts';
import { IssueCollector } from './checks/issue-collector.ts';
import { budgetExceededIssue, isStackOverflow, nestedTooDeeply } from './checks/issues.ts';
import { limits } from './limits.ts';
import type { Plan } from './parse/plan.ts';
import type { Issue, Validation, Validator } from './types.ts';

/** How often a schema is used before code is generated for it. */
const callsUntilGenerated = 200;

/** The generator, loaded when a schema was used often enough, so that it does not slow down the start. */
let generator: typeof import('./checks/codegen.ts') | undefined;
let loading: Promise<void> | undefined;

/** Loads the generator; resolves when validators can use it. */
export function loadGenerator(): Promise<void> {
  loading ??= import('./checks/codegen.ts').then((loaded) => {
    generator = loaded;
  });
  return loading;
}

/** Validates by a plan. Nothing is read or built before the first value arrives. */
export class JsonSchemaValidator implements Validator {
  readonly #read: () => Plan;
  #plan: Plan | undefined;
  #exact: Check | undefined;
  #generated: GeneratedTest | undefined;
  #callsLeft: number;

  /** `generateAfter` lets tests choose between closures and generated code. */
  constructor(read: () => Plan, generateAfter: number = callsUntilGenerated) {
    this.#read = read;
    this.#callsLeft = generateAfter;
  }

  readonly check = (value: unknown): readonly Issue[] | undefined => {
    try {
      budget.stepsLeft = limits.maxSteps;
      if (this.#generated !== undefined) {
        if (this.#generated(value, 0) && !budget.uncertain) return undefined;
        budget.uncertain = false;
      } else {
        if (--this.#callsLeft < 0) this.#generate();
        if (this.#closures()(value, 0, undefined)) return undefined;
      }
      return this.#explain(value);
    } catch (error) {
      budget.uncertain = false;
      if (error === depthExceeded || isStackOverflow(error)) return [nestedTooDeeply];
      if (error === budgetExceeded) return [budgetExceededIssue];
      throw error;
    }
  };

  validate(value: unknown): Validation {
    const issues = this.check(value);
    return issues === undefined ? { ok: true, value } : { ok: false, issues };
  }

  #explain(value: unknown): readonly Issue[] | undefined {
    budget.stepsLeft = limits.maxSteps;
    const log = new IssueCollector();
    return this.#closures()(value, 0, log) ? undefined : log.issues();
  }

  #closures(): Check {
    return (this.#exact ??= buildCheck((this.#plan ??= this.#read())));
  }

  #generate(): void {
    if (generator === undefined) {
      void loadGenerator();
      return;
    }
    if (generator.canGenerate()) this.#generated = generator.generateTest((this.#plan ??= this.#read()));
    // If no code could be generated, it is not tried again: closures do the same.
    if (this.#generated === undefined) this.#callsLeft = Number.POSITIVE_INFINITY;
  }
}
