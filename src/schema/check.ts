// The contract between closures.ts and the checks it is made of.
import type { IssueCollector } from './log.ts';
import type { Plan } from './plan.ts';

/**
 * Judges a value that is `depth` levels down. Without a log it stops at the first thing that is wrong; with one it
 * goes on and notes what it finds. Throws `depthReached` or `workExhausted` when a limit is met.
 */
export type Check = (value: unknown, depth: number, log: IssueCollector | undefined) => boolean;

/** Turns the plans inside a rule into checks. */
export type Build = (plan: Plan) => Check;
