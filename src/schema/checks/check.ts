// The contract between closures.ts and the checks it is made of.

import type { Plan } from '../parse/plan.ts';
import type { IssueCollector } from './issue-collector.ts';

/**
 * Validates a value that is `depth` levels down. Without a log it stops at the first thing that is wrong; with one it
 * continues and notes what it finds. Throws `depthExceeded` or `budgetExceeded` when a limit is met.
 */
export type Check = (value: unknown, depth: number, log: IssueCollector | undefined) => boolean;

/** Turns the plans inside a rule into checks. */
export type Build = (plan: Plan) => Check;
