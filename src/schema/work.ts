// What one validation may still spend. Validation is synchronous and calls no foreign code, so one counter serves all.
import { limits } from './limits.ts';

/** Reset before each validation. */
export const work = {
  refsLeft: limits.maxRefsFollowed as number,
  /** Set by generated code that cannot tell (an object with a prototype of its own); the closures then decide. */
  doubtful: false,
};

/** Thrown, not returned: under `not` a returned failure would become a success. Made once; a stack helps nobody. */
export const depthReached = new Error('The value is nested too deeply');

/** Thrown when `refsLeft` is used up. */
export const workExhausted = new Error('The value takes too long to judge');
