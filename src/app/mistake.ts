// Mistakes of the person at the keyboard, as opposed to failures of the program or of the world.

/** Something was asked for wrongly. Shown as it is, without a stack; exit code 2. */
export class Mistake extends Error {}
