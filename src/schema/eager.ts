// Who judges values of plain schemas, once it is there. Not imported by compile.ts itself: see judging.ts.
import type { Plan } from './parse/plan.ts';
import type { Validator } from './types.ts';

/** Filled by judging.ts. */
export const eagerValidator: { plain: (new (read: () => Plan) => Validator) | undefined } = { plain: undefined };
